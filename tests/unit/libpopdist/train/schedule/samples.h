// SPDX-License-Identifier: Apache-2.0
// The definition of a pipeline, written independently of the schedules: micro-batches travel through the
// stages, one stage in a timestep, forwards and then backwards.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "popdist/schedule.hpp"

namespace popdist::train::testing {

inline constexpr ScheduleKind kKinds[] = {ScheduleKind::kGrouped, ScheduleKind::kInterleaved,
                                          ScheduleKind::kSequential};

/// A stage's work in a timestep.
struct Visit {
  int timestep = 0;
  int stage = 0;
  bool backward = false;
  int micro_batch = 0;
};

/// Carries each micro-batch from stage to stage. When the next one enters depends on the kind.
inline std::vector<Visit> travel(ScheduleKind kind, int stages, int count) {
  struct Traveller {
    int micro_batch;
    int next = 0;  // 0 … 2 * stages - 1
  };
  std::vector<Traveller> inside;
  std::vector<Visit> visits;
  int entered = 0;
  for (int timestep = 0; entered < count || !inside.empty(); ++timestep) {
    const bool may_enter = kind == ScheduleKind::kGrouped ||
                           (kind == ScheduleKind::kInterleaved && timestep % 2 == 0) || inside.empty();
    if (may_enter && entered < count && (kind != ScheduleKind::kSequential || inside.empty()))
      inside.push_back({entered++});
    for (Traveller& traveller : inside) {
      const bool backward = traveller.next >= stages;
      visits.push_back({timestep, backward ? 2 * stages - 1 - traveller.next : traveller.next, backward,
                        traveller.micro_batch});
      ++traveller.next;
    }
    std::erase_if(inside, [&](const Traveller& traveller) { return traveller.next == 2 * stages; });
  }
  return visits;
}

/// Each timestep lasts as long as its busiest IPU.
inline std::int64_t timeOf(const std::vector<Visit>& visits, const std::vector<int>& ipu_of,
                           const std::vector<std::int64_t>& forward,
                           const std::vector<std::int64_t>& backward) {
  std::map<int, std::map<int, std::int64_t>> busy;
  for (const Visit& visit : visits) {
    const auto stage = static_cast<std::size_t>(visit.stage);
    busy[visit.timestep][ipu_of[stage]] += visit.backward ? backward[stage] : forward[stage];
  }
  std::int64_t total = 0;
  for (const auto& [timestep, ipus] : busy) {
    std::int64_t longest = 0;
    for (const auto& [ipu, time] : ipus) longest = std::max(longest, time);
    total += longest;
  }
  return total;
}

/// Micro-batches whose forward a stage has done and whose backward it has not, at the end of the timestep
/// with most.
inline int liveAt(const std::vector<Visit>& visits, int stage) {
  std::map<int, int> change;
  for (const Visit& visit : visits) {
    if (visit.stage == stage) change[visit.timestep] += visit.backward ? -1 : 1;
  }
  int live = 0;
  int most = 0;
  for (const auto& [timestep, by] : change) most = std::max(most, live += by);
  return most;
}

inline ScheduleOptions optionsOf(ScheduleKind kind, int stages, int count) {
  return {.levels = chain(stages), .gradient_accumulation_count = count, .kind = kind};
}

}  // namespace popdist::train::testing
