// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/plan/hierarchy.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace popdist::plan {
namespace {

// Smaller parts are not worth a lane of their own.
constexpr std::size_t kLeastLaneBytes = 4 << 10;
// A reduce-scatter in lanes keeps one block for each host. With its stages and what is under way to other
// hosts a rank stays below 16 MiB.
constexpr std::size_t kMostKeptBytes = 5 << 20;

}  // namespace

const char* nameOf(HierarchyWay way) {
  constexpr const char* kNames[] = {"flat", "leaders", "lanes"};
  return kNames[static_cast<std::size_t>(way)];
}

HostLayout::HostLayout(std::vector<int> members, int rank) : members_(std::move(members)) {
  int first = 0;
  for (int host = 0; host < hosts(); ++host) {
    first_ranks_.push_back(first);
    if (rank >= first) {
      host_ = host;
      local_ = rank - first;
    }
    even_ &= membersOf(host) == members_.front();
    first += membersOf(host);
  }
}

int HostLayout::hostOf(int rank) const {
  const auto next = std::upper_bound(first_ranks_.begin(), first_ranks_.end(), rank);
  return static_cast<int>(next - first_ranks_.begin()) - 1;
}

std::vector<int> HostLayout::lane(int local) const {
  POP_CHECK(even_ || local == 0);
  std::vector<int> ranks = first_ranks_;
  for (int& rank : ranks) rank += local;
  return ranks;
}

HierarchyWay hierarchyFor(Operation operation, std::size_t bytes, const HostLayout& layout) {
  const auto members = static_cast<std::size_t>(layout.members());
  const auto hosts = static_cast<std::size_t>(layout.hosts());
  switch (operation) {
    case Operation::kBarrier:
    case Operation::kBroadcast:
    case Operation::kReduce:
      return HierarchyWay::kLeaders;
    case Operation::kAllReduce:
      return layout.even() && bytes / members >= kLeastLaneBytes ? HierarchyWay::kLanes
                                                                 : HierarchyWay::kLeaders;
    case Operation::kAllGather:
      return layout.even() && bytes >= kLeastLaneBytes ? HierarchyWay::kLanes : HierarchyWay::kLeaders;
    case Operation::kReduceScatter:
      return layout.even() && bytes <= kMostKeptBytes / hosts ? HierarchyWay::kLanes : HierarchyWay::kFlat;
    // What goes from one rank to one other crosses the network once anyway.
    case Operation::kAllToAll:
    case Operation::kGather:
    case Operation::kScatter:
    case Operation::kSendRecv:
      return HierarchyWay::kFlat;
  }
  return HierarchyWay::kFlat;
}

Plan onRanks(Plan plan, std::span<const int> rank_of_position) {
  for (Step& step : plan.steps) {
    if (step.peer >= 0) step.peer = rank_of_position[static_cast<std::size_t>(step.peer)];
  }
  return plan;
}

}  // namespace popdist::plan
