// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/gcl.h"

#include <vector>

#include "common/base/check.h"
#include "pod/collectives/digits.h"

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

std::vector<Stage> stagesOf(const std::vector<Digit>& digits, RingMethod inside_ild) {
  std::vector<Stage> stages;
  for (const Digit& digit : digits) {
    const bool is_inside = digit.stride == 1;
    stages.push_back({digit, is_inside ? inside_ild : RingMethod::kClockwise});
  }
  return stages;
}

}  // namespace

GclMethods automaticMethods(const ReplicaLayout& layout, int group, std::uint64_t bytes) {
  const std::vector<Digit> inside = digitsOf(layout, group).inside;
  const int ranks = inside.empty() || inside.front().stride != 1 ? 1 : inside.front().size;
  const IldTopology topology = layout.spec.ringTopology();
  if (ranks <= 2) return {};
  if (topology == IldTopology::kBarleyTwist && layout.ipus_per_replica == 1) {
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

Schedule gclAllReduce(const ReplicaLayout& layout, int group, GclMethods methods) {
  POP_CHECK(validate(layout).ok());
  const std::vector<Digit> inside = digitsOf(layout, group).inside;
  return allReduce(layout.replicas, stagesOf(inside, methods.reduce_scatter),
                   stagesOf(inside, methods.all_gather));
}

Schedule gclReduceScatter(const ReplicaLayout& layout, int group, GclMethods methods) {
  POP_CHECK(validate(layout).ok());
  const Digits digits = digitsOf(layout, group);
  return reduceScatterOfAll(layout.replicas, stagesOf(digits.inside, methods.reduce_scatter),
                            stagesOf(digits.between, RingMethod::kClockwise));
}

Schedule gclAllGather(const ReplicaLayout& layout, int group, GclMethods methods) {
  POP_CHECK(validate(layout).ok());
  return allGather(layout.replicas, stagesOf(digitsOf(layout, group).inside, methods.all_gather));
}

}  // namespace pop::pod
