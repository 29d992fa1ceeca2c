// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/pod_clock.h"

#include <algorithm>
#include <vector>

#include "libpopdist/pod/model/clock.h"
#include "libpopdist/pod/model/gcl/all_reduce.h"
#include "libpopdist/pod/model/gcl/group_collectives.h"

namespace popdist::pod {
namespace {

// The clock counts 106 days. Collectives get half of them; none comes near it.
constexpr Picoseconds kMaxTime{std::int64_t{1} << 62};

plan::Plan planOf(Collective collective, const ReplicaLayout& layout, int group, int replica,
                  std::size_t count) {
  switch (collective) {
    case Collective::kGroupAllReduce:
      return gcl::planGroupAllReduce(layout, group, replica, count);
    case Collective::kGroupReduceScatter:
      return gcl::planGroupReduceScatter(layout, group, replica, count);
    case Collective::kGroupAllGather:
      return gcl::planGroupAllGather(layout, group, replica, count);
    case Collective::kAllReduce:
      break;
  }
  return gcl::planDeviceAllReduce(layout, replica, count);
}

}  // namespace

pop::Status PodClock::add(SimulatedTime time, SimulatedTime& part) {
  if (time < SimulatedTime(0) || time > kMaxTime - std::min(this->time(), kMaxTime))
    return pop::invalidArgument(std::to_string(time.count()) +
                                " ps are negative, or take the simulated time beyond 53 days");
  part += time;
  return {};
}

void PodClock::addCollective(Collective collective, int group, std::size_t count, std::size_t element_bytes) {
  const SimulatedTime taken = simulated({collective, group, count, element_bytes});
  switch (collective) {
    case Collective::kGroupReduceScatter:
      times_.reduce_scatter += taken;
      return;
    case Collective::kGroupAllGather:
      times_.all_gather += taken;
      return;
    case Collective::kAllReduce:
    case Collective::kGroupAllReduce:
      break;
  }
  times_.all_reduce += taken;
}

// Training repeats the same sizes: each is simulated once. The result is small.
SimulatedTime PodClock::simulated(const Key& key) {
  constexpr std::size_t kKeptSizes = 1 << 16;
  if (const auto kept = simulated_.find(key); kept != simulated_.end()) return kept->second;
  const auto& [collective, group, count, element_bytes] = key;
  std::vector<plan::Plan> everybody;
  for (int replica = 0; replica < layout_.replicas; ++replica)
    everybody.push_back(planOf(collective, layout_, group, replica, count));
  const SimulatedTime taken = simulate(layout_, everybody, element_bytes).total;
  if (simulated_.size() >= kKeptSizes) simulated_.clear();
  return simulated_.emplace(key, taken).first->second;
}

}  // namespace popdist::pod
