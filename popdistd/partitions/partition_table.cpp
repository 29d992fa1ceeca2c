// SPDX-License-Identifier: Apache-2.0
// The life of partitions: each call is an event of the table in partition_fsm.h.
#include "popdistd/partitions/partition_table.h"

#include <algorithm>

#include "common/base/text.h"
#include "popdistd/partitions/partition_plan.h"

namespace pop::vipu {
namespace {

const char* textOf(PartitionEvent event) {
  switch (event) {
    case PartitionEvent::kConfigured:
    case PartitionEvent::kConfigFailed:
    case PartitionEvent::kRetriesOver:
      return "is not being configured";
    case PartitionEvent::kReset:
    case PartitionEvent::kAutoReset:
      return "cannot be reset now";
    case PartitionEvent::kMachineLost:
      return "does not depend on its machines now";
    case PartitionEvent::kRemove:
      return "is being removed already";
    case PartitionEvent::kReleased:
    case PartitionEvent::kNotReleased:
      return "is not being removed";
    case PartitionEvent::kForcedRelease:
      return "is not in quarantine: remove it first";
  }
  return "cannot do that";
}

Status held(const Partition& partition, std::string_view advice) {
  return failedPrecondition("partition " + inQuotes(partition.id) + " is held by job " +
                            inQuotes(partition.job) + ": " + std::string(advice));
}

}  // namespace

Result<const Partition*> PartitionTable::require(std::string_view id) const {
  if (const Partition* const partition = index_.find(id)) return partition;
  return Status(Code::kNotFound, "there is no partition " + inQuotes(id));
}

PartitionStep PartitionTable::commit(std::optional<Partition> before, std::optional<Partition> after,
                                     PartitionAction action) {
  index_.replace(before, after);
  return {std::move(before), std::move(after), action, {}};
}

// `partition` is the table's own, and gone afterwards. `after` differs from it in what the event changes
// besides the state.
Result<Change> PartitionTable::advance(const Partition& partition, PartitionEvent event, Partition after,
                                       Time now) {
  const auto transition = step(partition.state, event);
  if (!transition)
    return failedPrecondition("partition " + inQuotes(partition.id) + " is " + stateText(partition) +
                              ": it " + textOf(event));
  after.state = transition->to;
  after.changed = now;
  const bool lives = after.state != PartitionState::kRemoved;
  return Change{
      commit(partition, lives ? std::optional(std::move(after)) : std::nullopt, transition->action)};
}

Result<PartitionSpec> PartitionTable::plan(const CreateRequest& request) const {
  const std::string_view user = request.any_allocation ? std::string_view() : request.owner;
  if (const Partition* const same = index_.find(request.requirements.id)) {
    const std::string name = "partition " + inQuotes(same->id) + " exists already";
    return Status(Code::kAlreadyExists,
                  mayUse(user, *inventory_.allocation(same->spec.allocation))
                      ? name + " and is " + stateText(*same) + ": remove it first, or use another name"
                      : name + ": use another name");
  }
  return planPartition(request.requirements, user, inventory_, index_);
}

Result<Change> PartitionTable::create(const CreateRequest& request, Time now) {
  POP_ASSIGN_OR_RETURN(PartitionSpec spec, plan(request));
  Partition partition{.id = request.requirements.id, .owner = request.owner, .spec = std::move(spec)};
  partition.relocatable = request.relocatable;
  partition.may_relocate = request.relocatable;
  partition.goes_with = request.goes_with;
  partition.auto_reset = {.enabled = !request.disable_auto_reset, .max_retries = policy_.max_retries};
  partition.created = now;
  partition.changed = now;
  return Change{commit(std::nullopt, std::move(partition), PartitionAction::kConfigure)};
}

Result<Change> PartitionTable::configured(std::string_view id, Time now) {
  POP_ASSIGN_OR_RETURN(const Partition* const partition, require(id));
  Partition after = *partition;
  after.errors.clear();
  return advance(*partition, PartitionEvent::kConfigured, std::move(after), now);
}

Result<Change> PartitionTable::configFailed(std::string_view id, std::string_view why, Time now) {
  POP_ASSIGN_OR_RETURN(const Partition* const partition, require(id));
  Partition after = *partition;
  after.errors.push_back(bounded(printable(why)));
  if (lostMachineOf(*partition))
    return advance(*partition, PartitionEvent::kMachineLost, std::move(after), now);
  if (!takeRetry(after.auto_reset, now))
    return advance(*partition, PartitionEvent::kRetriesOver, std::move(after), now);
  if (partition->may_relocate) {
    // Its own IPUs are owned, so these are others.
    auto moved = planRelocation(id, partition->spec, inventory_, index_.owned());
    if (moved.ok()) after.spec = std::move(moved).value();
  }
  return advance(*partition, PartitionEvent::kConfigFailed, std::move(after), now);
}

Result<Change> PartitionTable::reset(std::string_view id, bool relocatable, Time now) {
  POP_ASSIGN_OR_RETURN(const Partition* const partition, require(id));
  if (!partition->job.empty()) return held(*partition, "cancel the job, then reset the partition");
  Partition after = *partition;
  after.auto_reset.retry_count = 0;
  after.may_relocate = relocatable || partition->relocatable;
  if (step(partition->state, PartitionEvent::kReset)) {
    POP_ASSIGN_OR_RETURN(after.spec, specForReset(*partition, after.may_relocate));
  }
  return advance(*partition, PartitionEvent::kReset, std::move(after), now);
}

Result<Change> PartitionTable::remove(std::string_view id, bool force, Time now) {
  POP_ASSIGN_OR_RETURN(const Partition* const partition, require(id));
  if (!partition->job.empty() && !force)
    return held(*partition, "cancel the job, or remove the partition with force");
  Partition after = *partition;
  after.ready_before_removing = readyState(*partition);
  const std::string job = partition->job;
  POP_ASSIGN_OR_RETURN(Change change, advance(*partition, PartitionEvent::kRemove, std::move(after), now));
  change.front().cancel_job = job;
  return change;
}

Result<Change> PartitionTable::released(std::string_view id, Time now) {
  POP_ASSIGN_OR_RETURN(const Partition* const partition, require(id));
  if (!partition->job.empty()) return held(*partition, "it is released when the job has ended");
  return advance(*partition, PartitionEvent::kReleased, *partition, now);
}

Result<Change> PartitionTable::notReleased(std::string_view id, std::string_view why, Time now) {
  POP_ASSIGN_OR_RETURN(const Partition* const partition, require(id));
  Partition after = *partition;
  after.errors.push_back(bounded(printable(why)));
  return advance(*partition, PartitionEvent::kNotReleased, std::move(after), now);
}

Result<Change> PartitionTable::forceRelease(std::string_view id, Time now) {
  POP_ASSIGN_OR_RETURN(const Partition* const partition, require(id));
  return advance(*partition, PartitionEvent::kForcedRelease, *partition, now);
}

Result<Change> PartitionTable::bind(std::string_view id, std::string_view job) {
  POP_ASSIGN_OR_RETURN(const Partition* const partition, require(id));
  if (job.empty())
    return invalidArgument("partition " + inQuotes(id) + ": the job that is to hold it has no name");
  if (partition->job == job) return Change{};
  if (!partition->job.empty()) return held(*partition, "one partition has one job at a time");
  if (const Partition* const other = index_.heldBy(job)) return held(*other, "a job holds one partition");
  if (partition->state != PartitionState::kActive)
    return failedPrecondition("partition " + inQuotes(id) + " is " + stateText(*partition) +
                              ": jobs can use it when it is ACTIVE/IDLE");
  Partition after = *partition;
  after.job = job;
  return Change{commit(*partition, std::move(after))};
}

Result<Change> PartitionTable::goWithHolder(std::string_view id) {
  POP_ASSIGN_OR_RETURN(const Partition* const partition, require(id));
  if (partition->job.empty() || partition->goes_with == partition->job) return Change{};
  Partition after = *partition;
  after.goes_with = partition->job;
  return Change{commit(*partition, std::move(after))};
}

Result<Change> PartitionTable::unbind(std::string_view job) {
  const Partition* const partition = index_.heldBy(job);
  if (!partition) return Status(Code::kNotFound, "job " + inQuotes(job) + " holds no partition");
  Partition after = *partition;
  after.job.clear();
  return Change{commit(*partition, std::move(after))};
}

void PartitionTable::revert(const Change& change) {
  std::for_each(change.rbegin(), change.rend(),
                [this](const PartitionStep& one) { index_.replace(one.after, one.before); });
}

}  // namespace pop::vipu
