// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/pod_clock.h"

#include <algorithm>

#include "pod/clock/clock.h"

namespace popdist::pod {
namespace {

// The clock counts 106 days. Collectives get half of them; none comes near it.
constexpr Picoseconds kMaxTime{std::int64_t{1} << 62};

Schedule scheduleOf(CollectiveKind collective, const ReplicaLayout& layout, int group) {
  switch (collective) {
    case CollectiveKind::kReduceScatter:
      return gclReduceScatter(layout, group);
    case CollectiveKind::kAllGather:
      return gclAllGather(layout, group);
    case CollectiveKind::kAllReduce:
      break;
  }
  return gclAllReduce(layout, group);
}

}  // namespace

pop::Status PodClock::add(SimulatedTime time, SimulatedTime& part) {
  if (time < SimulatedTime(0) || time > kMaxTime - std::min(this->time(), kMaxTime))
    return pop::invalidArgument(std::to_string(time.count()) +
                                " ps are negative, or take the simulated time beyond 53 days");
  part += time;
  return {};
}

void PodClock::addCollective(CollectiveKind collective, int group, std::size_t count,
                             std::size_t element_bytes) {
  const SimulatedTime taken = simulated({collective, group, count, element_bytes});
  switch (collective) {
    case CollectiveKind::kReduceScatter:
      times_.reduce_scatter += taken;
      return;
    case CollectiveKind::kAllGather:
      times_.all_gather += taken;
      return;
    case CollectiveKind::kAllReduce:
      break;
  }
  times_.all_reduce += taken;
}

// Training repeats the same sizes: each is simulated once. The result is small.
SimulatedTime PodClock::simulated(const Key& key) {
  constexpr std::size_t kKeptSizes = 1 << 16;
  if (const auto kept = simulated_.find(key); kept != simulated_.end()) return kept->second;
  const auto& [collective, group, count, element_bytes] = key;
  const SimulatedTime taken =
      simulate(topology_, layout_, scheduleOf(collective, layout_, group), count, element_bytes).total;
  if (simulated_.size() >= kKeptSizes) simulated_.clear();
  return simulated_.emplace(key, taken).first->second;
}

}  // namespace popdist::pod
