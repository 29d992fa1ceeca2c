// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/pod_clock.h"

#include <algorithm>
#include <string>

namespace popdist::pod {
namespace {

// The clock counts 106 days. Half of them are enough.
constexpr SimulatedTime kMaxTime{std::int64_t{1} << 62};

}  // namespace

pop::Status PodClock::addCompute(SimulatedTime time) {
  POP_RETURN_IF_ERROR(check(time));
  if (trace_ != nullptr) trace_->addCompute(computeBegin(), time);
  times_.compute += time;
  return {};
}

pop::Status PodClock::addStreaming(SimulatedTime time) {
  POP_RETURN_IF_ERROR(check(time));
  if (trace_ != nullptr) trace_->addStreaming(onIoTilesBegin(), time);
  times_.streaming += time;
  return {};
}

pop::Status PodClock::checkCollective(const PodCollective& collective) const {
  if (collective.time < kMaxTime && check(collective.time).ok()) return {};
  return pop::invalidArgument(
      "the collective takes the simulated time beyond 53 days: it has too many elements, or the system's "
      "links are too slow");
}

void PodClock::addCollective(Program& program) {
  if (trace_ != nullptr) trace_->addCollective(onIoTilesBegin(), program);
  partOf(program.collective.kind) += program.report.time;
  last_ = program.report;
}

pop::Status PodClock::check(SimulatedTime time) const {
  if (time < SimulatedTime(0) || time > kMaxTime - std::min(this->time(), kMaxTime))
    return pop::invalidArgument(std::to_string(time.count()) +
                                " ps are negative, or take the simulated time beyond 53 days");
  return {};
}

SimulatedTime PodClock::hidden() const {
  if (overlaps_ == 0) return times_.hidden;
  return times_.hidden + std::min(times_.compute - compute_before_, onIoTiles() - on_io_tiles_before_);
}

SimulatedTime PodClock::computeBegin() const {
  return overlaps_ == 0 ? time() : time_before_ + times_.compute - compute_before_;
}

SimulatedTime PodClock::onIoTilesBegin() const {
  return overlaps_ == 0 ? time() : time_before_ + onIoTiles() - on_io_tiles_before_;
}

void PodClock::beginOverlap() {
  if (overlaps_++ > 0) return;
  time_before_ = time();
  compute_before_ = times_.compute;
  on_io_tiles_before_ = onIoTiles();
}

void PodClock::endOverlap() {
  if (overlaps_ == 1) times_.hidden = hidden();
  --overlaps_;
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
    case CollectiveKind::kTakeOwnPart:
      break;
  }
  return times_.reduce_scatter;
}

}  // namespace popdist::pod
