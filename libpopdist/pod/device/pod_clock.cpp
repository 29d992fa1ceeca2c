// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/pod_clock.h"

#include <algorithm>
#include <string>

namespace popdist::pod {
namespace {

// The clock counts 106 days. Collectives get half of them; none comes near it.
constexpr SimulatedTime kMaxTime{std::int64_t{1} << 62};

}  // namespace

pop::Status PodClock::add(SimulatedTime time, SimulatedTime& part) {
  if (time < SimulatedTime(0) || time > kMaxTime - std::min(this->time(), kMaxTime))
    return pop::invalidArgument(std::to_string(time.count()) +
                                " ps are negative, or take the simulated time beyond 53 days");
  part += time;
  return {};
}

void PodClock::addCollective(CollectiveKind kind, const PodCollective& collective) {
  partOf(kind) += collective.time;
  last_ = collective;
}

void PodClock::beginOverlap() {
  if (overlaps_++ > 0) return;
  compute_before_ = times_.compute;
  on_io_tiles_before_ = onIoTiles();
}

void PodClock::endOverlap() {
  if (--overlaps_ > 0) return;
  times_.hidden += std::min(times_.compute - compute_before_, onIoTiles() - on_io_tiles_before_);
}

SimulatedTime& PodClock::partOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return times_.all_reduce;
    case CollectiveKind::kAllGather:
      return times_.all_gather;
    case CollectiveKind::kAllToAll:
      return times_.all_to_all;
    case CollectiveKind::kBroadcast:
      return times_.broadcast;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kReduceScatterOfAll:
      break;
  }
  return times_.reduce_scatter;
}

}  // namespace popdist::pod
