// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/choice/over_hosts.h"

namespace popdist::choice {

using plan::Operation;

namespace {

// Smaller parts are not worth a lane of their own.
constexpr std::size_t kMinLaneBytes = 4 << 10;
// A reduce-scatter in lanes keeps one block for each host. With its stages and what is under way to other
// hosts a rank stays below 16 MiB.
constexpr std::size_t kMaxKeptBytes = 5 << 20;

}  // namespace

const char* nameOf(HierarchyWay way) {
  constexpr const char* kNames[] = {"flat", "leaders", "lanes"};
  return kNames[static_cast<std::size_t>(way)];
}

HierarchyWay hierarchyFor(Operation operation, std::size_t bytes, const plan::HostLayout& layout) {
  const auto members = static_cast<std::size_t>(layout.members());
  const auto hosts = static_cast<std::size_t>(layout.hosts());
  switch (operation) {
    case Operation::kBarrier:
    case Operation::kBroadcast:
    case Operation::kReduce:
      return HierarchyWay::kLeaders;
    case Operation::kAllReduce:
      return layout.even() && bytes / members >= kMinLaneBytes ? HierarchyWay::kLanes
                                                               : HierarchyWay::kLeaders;
    case Operation::kAllGather:
      return layout.even() && bytes >= kMinLaneBytes ? HierarchyWay::kLanes : HierarchyWay::kLeaders;
    case Operation::kReduceScatter:
      return layout.even() && bytes <= kMaxKeptBytes / hosts ? HierarchyWay::kLanes : HierarchyWay::kFlat;
    // Data for a single rank crosses the network once anyway.
    case Operation::kAllToAll:
    case Operation::kGather:
    case Operation::kScatter:
    case Operation::kSendRecv:
      return HierarchyWay::kFlat;
  }
  return HierarchyWay::kFlat;
}

}  // namespace popdist::choice
