// SPDX-License-Identifier: Apache-2.0
// The counters of partitions: popdistd/api/measures.h.
#include <chrono>
#include <optional>

#include "popdistd/pods/partitions.h"

namespace pop::popdistd {
namespace {

using vipu::PartitionState;

std::optional<PartitionOperation> operationIn(PartitionState state) {
  switch (state) {
    case PartitionState::kCreating:
      return PartitionOperation::kCreate;
    case PartitionState::kResetting:
      return PartitionOperation::kReset;
    case PartitionState::kRemoving:
      return PartitionOperation::kRemove;
    default:
      return std::nullopt;
  }
}

// Nothing: it goes on, or was given up for another.
std::optional<bool> wentWell(PartitionOperation operation, const std::optional<vipu::Partition>& after) {
  if (!after) return operation == PartitionOperation::kRemove ? std::optional(true) : std::nullopt;
  switch (after->state) {
    case PartitionState::kActive:
      return true;
    case PartitionState::kError:
    case PartitionState::kFailed:
    case PartitionState::kQuarantine:
      return false;
    case PartitionState::kResetting:  // tried again
      return operation == PartitionOperation::kRemove ? std::nullopt : std::optional(false);
    default:
      return std::nullopt;
  }
}

}  // namespace

void Partitions::count(const vipu::Change& change) {
  for (const vipu::PartitionStep& step : change) {
    if (!step.before) continue;
    if (step.after && step.after->auto_reset.retry_count > step.before->auto_reset.retry_count)
      ++meters_.auto_resets;
    const auto operation = operationIn(step.before->state);
    const auto well = operation ? wentWell(*operation, step.after) : std::nullopt;
    if (!well) continue;
    PartitionMeters::Done& done = meters_.done[static_cast<std::size_t>(*operation)];
    ++(*well ? done.well : done.badly);
    done.seconds.add(std::chrono::duration<double>(now() - step.before->changed).count());
  }
}

// The users of partitions are few, and known: each has owned one.
void Partitions::countIpuSeconds() {
  const Clock::time_point now = parts_.loop.now();
  const double passed = std::chrono::duration<double>(now - counted_at_).count();
  counted_at_ = now;
  for (const auto& [id, partition] : table_->partitions())
    meters_.ipu_seconds[partition.owner] += partition.spec.size * passed;
}

}  // namespace pop::popdistd
