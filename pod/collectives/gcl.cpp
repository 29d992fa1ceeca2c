// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/gcl.h"

#include <vector>

#include "common/base/check.h"
#include "pod/collectives/digits.h"
#include "pod/collectives/exchange.h"

namespace pop::pod {
namespace {

// Thresholds of poplibs in bytes, for 1216 tiles: 512, 2048 and 16384 bytes a tile.
constexpr std::uint64_t kPairBytesUpTo4 = 622'592;
constexpr std::uint64_t kPairBytesUpTo8 = 2'490'368;
constexpr std::uint64_t kPairBytesUpTo16 = 19'922'944;
constexpr std::uint64_t kQuadBytes = 196'608;

// `bytes` that a replica has after an all-gather; a reduce-scatter's bounds are twice as high.
RingMethod onLadder(int ranks, std::uint64_t bytes) {
  const std::uint64_t pair_bytes = ranks <= 4   ? kPairBytesUpTo4
                                   : ranks <= 8 ? kPairBytesUpTo8
                                                : kPairBytesUpTo16;
  return ranks <= 16 && bytes >= pair_bytes ? RingMethod::kBidirectionalPair : RingMethod::kMeetInTheMiddle;
}

bool isInsideIld(const ReplicaLayout& layout, const Digit& digit) {
  return digit.stride < layout.replicasPerIld();
}

// A ring of two has one way only.
std::vector<Stage> stagesOf(const ReplicaLayout& layout, const std::vector<Digit>& digits,
                            RingMethod inside_ild) {
  std::vector<Stage> stages;
  for (const Digit& digit : digits) {
    const bool has_ways = isInsideIld(layout, digit) && digit.size > 2;
    stages.push_back({digit, has_ways ? inside_ild : RingMethod::kClockwise});
  }
  return stages;
}

}  // namespace

GclMethods automaticMethods(const ReplicaLayout& layout, ReplicaGroup group, std::uint64_t bytes) {
  const std::vector<Digit> inside = digitsOf(layout, group).inside;
  const int ranks = inside.empty() || !isInsideIld(layout, inside.front()) ? 1 : inside.front().size;
  const IldTopology topology = layout.spec.ringTopology();
  if (ranks <= 2) return {};
  if (topology == IldTopology::kBarleyTwist && layout.ipus_per_replica == 1 && group.stride == 1) {
    const auto both = static_cast<std::uint64_t>(ranks) * kQuadBytes;
    return {bytes < both ? RingMethod::kMeetInTheMiddle : RingMethod::kQuadDirectional,
            bytes < kQuadBytes ? RingMethod::kMeetInTheMiddle : RingMethod::kQuadDirectional};
  }
  if (layout.ipus_per_replica > 1) {
    if (topology == IldTopology::kMesh) return {};
    return {RingMethod::kMeetInTheMiddle, RingMethod::kMeetInTheMiddle};
  }
  return {onLadder(ranks, bytes / 2), onLadder(ranks, bytes)};
}

Schedule gclAllReduce(const ReplicaLayout& layout, ReplicaGroup group, GclMethods methods) {
  POP_CHECK(validate(layout).ok());
  const std::vector<Digit> inside = digitsOf(layout, group).inside;
  return allReduce(layout.replicas, stagesOf(layout, inside, methods.reduce_scatter),
                   stagesOf(layout, inside, methods.all_gather));
}

Schedule gclReduceScatterOfAll(const ReplicaLayout& layout, ReplicaGroup group, GclMethods methods) {
  POP_CHECK(validate(layout).ok());
  const Digits digits = digitsOf(layout, group);
  return reduceScatterOfAll(layout.replicas, stagesOf(layout, digits.inside, methods.reduce_scatter),
                            stagesOf(layout, digits.between, RingMethod::kClockwise));
}

Schedule gclAllGather(const ReplicaLayout& layout, ReplicaGroup group, GclMethods methods) {
  POP_CHECK(validate(layout).ok());
  return allGather(layout.replicas, stagesOf(layout, digitsOf(layout, group).inside, methods.all_gather));
}

Schedule gclSchedule(const ReplicaLayout& layout, const Collective& collective, GclMethods methods) {
  const ReplicaGroup& group = collective.group;
  switch (collective.kind) {
    case CollectiveKind::kAllReduce:
      return gclAllReduce(layout, group, methods);
    case CollectiveKind::kReduceScatter:
      return reduceScatter(layout.replicas,
                           stagesOf(layout, digitsOf(layout, group).inside, methods.reduce_scatter));
    case CollectiveKind::kReduceScatterOfAll:
      return gclReduceScatterOfAll(layout, group, methods);
    case CollectiveKind::kTakeOwnPart:
      return {.replicas = layout.replicas, .blocks = static_cast<std::uint32_t>(group.size), .phases = {}};
    case CollectiveKind::kAllGather:
      return gclAllGather(layout, group, methods);
    case CollectiveKind::kAllToAll:
      return allToAll(layout.replicas, group, false);
    case CollectiveKind::kBroadcast:
      break;
  }
  return broadcast(gclAllGather(layout, group, methods), group, collective.root);
}

}  // namespace pop::pod
