// SPDX-License-Identifier: Apache-2.0
#include "popdistd/pods/job_leases.h"

#include <bit>
#include <utility>

#include "common/base/text.h"
#include "popdistd/partitions/partition_system.h"
#include "popdistd/pods/holder_id.h"
#include "popdistd/pods/needed_partition.h"

namespace pop::popdistd {
namespace {

using vipu::Partition;
using vipu::PartitionState;
using Kind = LeaseAnswer::Kind;

LeaseAnswer waits(std::string reason) {
  return {.kind = Kind::kWaits, .reason = std::move(reason)};
}

LeaseAnswer never(std::string reason) {
  return {.kind = Kind::kNever, .reason = std::move(reason)};
}

std::string called(const Partition& partition) {
  return "partition " + partition.id;
}

LeaseAnswer configuring(const Partition& partition, bool for_this_job) {
  LeaseAnswer answer = waits(called(partition) + " is being configured");
  if (for_this_job) answer.kind = Kind::kPreparing;
  return answer;
}

void append(vipu::Change& change, const vipu::Change& next) {
  change.insert(change.end(), next.begin(), next.end());
}

// Room that others take may become free again; everything else stays as it is.
LeaseAnswer answerOf(const Status& status) {
  return status.code() == Code::kResourceExhausted ? waits(status.message()) : never(status.message());
}

// In the order of a partition's IPUs: domain by domain, from the bottom.
void choose(const ChosenBlock& block, const vipu::Allocation& allocation,
            vipu::PartitionRequirements& requirements) {
  requirements.cluster = allocation.cluster;
  requirements.allocation = allocation.id;
  int ild_routing_id = 0;
  for (const queue::IldIpus& each : block.ipus) {
    for (vipu::IpuMask left = each.ipus; left != 0; left &= left - 1)
      requirements.ipus.push_back({.ild_topology_id = static_cast<int>(each.ild),
                                   .ild_routing_id = ild_routing_id,
                                   .topology_id = std::countr_zero(left),
                                   .routing_id = static_cast<int>(requirements.ipus.size())});
    ++ild_routing_id;
  }
}

}  // namespace

Status JobLeases::check(const LeaseRequest& request) {
  if (request.spec.partition.name.empty()) return {};
  POP_RETURN_IF_ERROR(vipu::checkName("partition", request.spec.partition.name));
  POP_ASSIGN_OR_RETURN(const vipu::CreateRequest made,
                       requestOf(request, PodAccess::isAdmin(submitterOf(request))));
  POP_RETURN_IF_ERROR(vipu::specOf(made.requirements).status());
  const Status allowed =
      PodAccess::partitionFor(submitterOf(request), request.spec.partition.name, table()).status();
  if (allowed.code() != Code::kNotFound) return allowed;
  const Status planned = table().plan(made).status();
  return planned.code() == Code::kResourceExhausted ? Status() : planned;
}

LeaseAnswer JobLeases::look(const LeaseRequest& request) {
  vipu::Change change;
  LeaseAnswer answer = attempt(request, nullptr, change);
  table().revert(change);
  return answer;
}

LeaseAnswer JobLeases::take(const LeaseRequest& request, const ChosenBlock* block) {
  vipu::Change change;
  LeaseAnswer answer = attempt(request, block, change);
  if (answer.kind != Kind::kReady && answer.kind != Kind::kPreparing) {
    table().revert(change);
    return answer;
  }
  if (const Status kept = partitions_.keep(std::as_const(change)); !kept.ok())
    return waits("its partition cannot be stored: " + kept.message());
  if (answer.kind == Kind::kPreparing)
    partitions_.setFreshFor(request.spec.partition.name, holderOf(request.job));
  return answer;
}

LeaseAnswer JobLeases::attempt(const LeaseRequest& request, const ChosenBlock* block, vipu::Change& change) {
  if (request.spec.partition.name.empty()) return {};
  const Result<const Partition*> found =
      PodAccess::partitionFor(submitterOf(request), request.spec.partition.name, table());
  if (found.status().code() == Code::kNotFound) return make(request, block, change);
  if (!found.ok()) return never(found.status().message());
  const Partition* const partition = found.value();
  if (partition->job == holderOf(request.job)) return {};
  if (!partition->job.empty()) return waits(called(*partition) + " is held by " + holderText(partition->job));
  if (partition->state == PartitionState::kRemoving || partition->state == PartitionState::kQuarantine)
    return waits(called(*partition) + " is " + stateText(*partition) +
                 (partition->errors.empty() ? "" : ": " + partition->errors.back()));
  // For whomever it is: two jobs that change it to and fro would never end.
  if (partition->state == PartitionState::kCreating || partition->state == PartitionState::kResetting)
    return configuring(*partition, partitions_.freshFor(partition->id) == holderOf(request.job));
  const std::string why = misfit(request, *partition);
  if (why.empty()) return use(request, change);
  if (!request.spec.partition.update) return never(why + ": --update-partition makes it anew");
  return replace(request, *partition, change);
}

LeaseAnswer JobLeases::make(const LeaseRequest& request, const ChosenBlock* block, vipu::Change& change) {
  Result<vipu::CreateRequest> wanted = requestOf(request, PodAccess::isAdmin(submitterOf(request)));
  if (!wanted.ok()) return never(wanted.status().message());
  if (block != nullptr) {
    const vipu::Allocation* const allocation = table().inventory().allocation(block->allocation);
    if (allocation == nullptr) return waits("allocation " + block->allocation + " was removed");
    choose(*block, *allocation, wanted->requirements);
  }
  const Result<vipu::Change> made = table().create(wanted.value(), partitions_.now());
  if (!made.ok()) return answerOf(made.status());
  append(change, made.value());
  return bind(request, change);
}

// In the place of the old one, if there is room; else that stays.
LeaseAnswer JobLeases::replace(const LeaseRequest& request, const Partition& partition,
                               vipu::Change& change) {
  const std::string id = partition.id;
  remove(id, change);
  if (table().find(id) != nullptr) return waits("partition " + id + " is being removed");
  return make(request, nullptr, change);
}

LeaseAnswer JobLeases::use(const LeaseRequest& request, vipu::Change& change) {
  const Partition& partition = *table().find(request.spec.partition.name);
  const bool is_fresh = partitions_.freshFor(partition.id) == holderOf(request.job);
  const bool resets = request.spec.partition.reset.value_or(!partition.spec.reconfigurable);
  switch (partition.state) {
    case PartitionState::kActive:
      return is_fresh || !resets ? bind(request, change) : reset(request, change);
    case PartitionState::kError:
    case PartitionState::kFailed:
      if (resets) return reset(request, change);
      return waits(called(partition) + " is " + stateText(partition) +
                   (partition.errors.empty() ? "" : ": " + partition.errors.back()));
    default:
      return waits(called(partition) + " is " + stateText(partition));
  }
}

LeaseAnswer JobLeases::reset(const LeaseRequest& request, vipu::Change& change) {
  const std::string& id = request.spec.partition.name;
  const Result<vipu::Change> resetting = table().reset(id, false, partitions_.now());
  if (!resetting.ok()) return waits(resetting.status().message());
  append(change, resetting.value());
  return bind(request, change);
}

LeaseAnswer JobLeases::bind(const LeaseRequest& request, vipu::Change& change) {
  if (const Status fits = systemOf(request).status(); !fits.ok()) return never(fits.message());
  const std::string& id = request.spec.partition.name;
  partitions_.goOn(id, change);
  if (table().find(id)->state != PartitionState::kActive) return configuring(*table().find(id), true);
  const Result<vipu::Change> bound = table().bind(id, holderOf(request.job));
  if (!bound.ok()) return waits(bound.status().message());
  append(change, bound.value());
  return {};
}

Result<std::string> JobLeases::systemOf(const LeaseRequest& request) const {
  const std::string& id = request.spec.partition.name;
  if (id.empty()) return request.spec.system;
  const Partition* const partition = partitions_.table().find(id);
  if (partition == nullptr) return Status(Code::kNotFound, "partition " + id + " is not there any more");
  return vipu::systemFor(request.spec, id, partition->spec);
}

void JobLeases::giveBack(std::int64_t job) {
  const std::string id = heldBy(job);
  if (id.empty() || !partitions_.keep(table().unbind(holderOf(job))).ok()) return;
  partitions_.setFreshFor(id, holderOf(job));
}

void JobLeases::ended(std::int64_t job, const std::string& named) {
  const std::string holder = holderOf(job);
  vipu::Change change;
  const Partition* partition = table().heldBy(holder);
  const std::string id = partition != nullptr ? partition->id : named;
  if (partition != nullptr) append(change, table().unbind(holder).value());
  partition = table().find(id);
  if (partition == nullptr) return;
  if (partition->state == PartitionState::kQuarantine) {
    const Result<vipu::Change> released = table().released(id, partitions_.now());
    if (released.ok()) append(change, released.value());
  } else if (partition->goes_with == holder && partition->job.empty() &&
             partition->state != PartitionState::kRemoving) {
    remove(id, change);
  } else {
    partitions_.goOn(id, change);
  }
  static_cast<void>(partitions_.keep(std::as_const(change)));
}

void JobLeases::lost(std::int64_t job, const std::string& why) {
  const std::string id = heldBy(job);
  if (id.empty()) return;
  vipu::Change change;
  if (table().find(id)->state != PartitionState::kRemoving) {
    const Result<vipu::Change> removing = table().remove(id, true, partitions_.now());
    if (!removing.ok()) return;
    append(change, removing.value());
  }
  const Result<vipu::Change> kept_off = table().notReleased(
      id, "job " + std::to_string(job) + " is lost, and may still use it: " + why, partitions_.now());
  if (kept_off.ok()) append(change, kept_off.value());
  static_cast<void>(partitions_.keep(std::as_const(change)));
}

void JobLeases::remove(const std::string& id, vipu::Change& change) {
  const Result<vipu::Change> removing = table().remove(id, false, partitions_.now());
  if (!removing.ok()) return;
  append(change, removing.value());
  partitions_.goOn(id, change);
}

std::string JobLeases::heldBy(std::int64_t job) const {
  const Partition* const partition = partitions_.table().heldBy(holderOf(job));
  return partition == nullptr ? "" : partition->id;
}

std::vector<std::int64_t> JobLeases::holders() const {
  std::vector<std::int64_t> jobs;
  for (const auto& [id, partition] : partitions_.table().partitions()) {
    if (const auto job = jobOf(partition.job)) jobs.push_back(*job);
  }
  return jobs;
}

}  // namespace pop::popdistd
