// SPDX-License-Identifier: Apache-2.0
// A collective that groups of replicas make, as it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "pod/collectives/replica_group.h"
#include "pod/system/saturating.h"

namespace pop::pod {

enum class CollectiveKind : std::uint8_t {
  kAllReduce,
  kReduceScatter,  ///< each place gets its part of the sum over its group
  kAllGather,
  kAllToAll,            ///< the part of each place goes to that place
  kBroadcast,           ///< from one place of each group
  kReduceScatterOfAll,  ///< each place gets its part of the sum over *all* replicas
  kTakeOwnPart,         ///< each place has its part of its own vector: GCL's reduce-scatter by LOCAL
};

/// "all-reduce", …
constexpr std::string_view nameOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return "all-reduce";
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kReduceScatterOfAll:
    case CollectiveKind::kTakeOwnPart:
      return "reduce-scatter";
    case CollectiveKind::kAllGather:
      return "all-gather";
    case CollectiveKind::kAllToAll:
      return "all-to-all";
    case CollectiveKind::kBroadcast:
      break;
  }
  return "broadcast";
}

struct Collective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  ReplicaGroup group;
  std::uint64_t count = 0;  ///< elements of the whole vector: before a reduce-scatter, after an all-gather
  std::size_t element_bytes = 4;
  int root = 0;  ///< of a broadcast: its place

  std::uint64_t bytes() const { return productOf(count, element_bytes); }
};

}  // namespace pop::pod
