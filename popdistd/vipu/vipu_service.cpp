// SPDX-License-Identifier: Apache-2.0
#include "popdistd/vipu/vipu_service.h"

#include <utility>

#include "common/base/text.h"
#include "popdistd/partitions/ipuof.h"
#include "popdistd/pods/holder_id.h"
#include "popdistd/vipu/partition_codec.h"

namespace pop::popdistd {
namespace {

// V-IPU's words would call every holder a job.
Status checkFree(const vipu::Partition& partition, const std::string& advice) {
  if (partition.job.empty()) return {};
  return failedPrecondition("partition " + inQuotes(partition.id) + " is held by " +
                            holderText(partition.job) + ": " + advice);
}

}  // namespace

template <typename T>
void VipuService::answer(const Status& done, T message, Reply<T> reply) {
  if (!done.ok()) return reply(done);
  parts_.commits.whenDurable(
      [reply = std::move(reply), message = std::move(message)](const Status& status) mutable {
        status.ok() ? reply(std::move(message)) : reply(status);
      });
}

void VipuService::listPartitions(const Caller& caller, virmgrpc::ListPartitionsRequest request,
                                 Reply<virmgrpc::ListPartitionsReply> reply) {
  const auto partitions = table().list(request.allocation_id(), PodAccess::inTable(caller));
  if (!partitions.ok()) return reply(partitions.status());
  virmgrpc::ListPartitionsReply list;
  for (const vipu::Partition* const each : partitions.value())
    *list.add_partitions() = vipu::toWire(*each, parts_.version);
  reply(std::move(list));
}

void VipuService::listIpuAttributes(const Caller& caller, virmgrpc::ListIPUAttributesRequest request,
                                    Reply<virmgrpc::ListIPUAttributesReply> reply) {
  reply(attributes(caller, request));
}

Result<virmgrpc::ListIPUAttributesReply> VipuService::attributes(
    const Caller& caller, const virmgrpc::ListIPUAttributesRequest& request) {
  if (PodAccess::isAdmin(caller)) return vipu::ipuAttributesToWire(request, table().inventory());
  virmgrpc::ListIPUAttributesRequest visible;
  const auto isVisible = [&](const vipu::Agent& agent) {
    const vipu::Allocation* const allocation = table().inventory().allocationOf(agent);
    return allocation != nullptr && PodAccess::mayUse(caller, *allocation);
  };
  for (const std::string& id : request.agents()) {
    const vipu::Agent* const agent = table().inventory().agent(id);
    if (agent == nullptr || !isVisible(*agent))
      return Status(Code::kNotFound, "there is no agent " + inQuotes(id) + " (agents), or not for user " +
                                         inQuotes(caller.user));
    visible.add_agents(id);
  }
  if (request.agents().empty()) {
    for (const auto& [id, agent] : table().inventory().agents()) {
      if (isVisible(agent)) visible.add_agents(id);
    }
    if (visible.agents().empty()) return virmgrpc::ListIPUAttributesReply();
  }
  return vipu::ipuAttributesToWire(visible, table().inventory());
}

void VipuService::createPartition(const Caller& caller, virmgrpc::CreatePartitionRequest request,
                                  Reply<virmgrpc::CreatePartitionReply> reply) {
  virmgrpc::CreatePartitionReply created;
  created.set_partition_id(request.requirements().id());
  answer(create(caller, request), std::move(created), std::move(reply));
}

Status VipuService::create(const Caller& caller, const virmgrpc::CreatePartitionRequest& request) {
  POP_ASSIGN_OR_RETURN(vipu::CreateRequest wanted, vipu::fromWire(request));
  wanted.owner = caller.user;
  wanted.any_allocation = PodAccess::isAdmin(caller);
  return parts_.partitions.keep(table().create(wanted, parts_.partitions.now()));
}

void VipuService::removePartition(const Caller& caller, virmgrpc::RemovePartitionRequest request,
                                  Reply<virmgrpc::RemovePartitionReply> reply) {
  answer(remove(caller, request), virmgrpc::RemovePartitionReply(), std::move(reply));
}

// Taking a partition from another user's job or program needs the right to cancel that job.
Status VipuService::checkTakes(const Caller& caller, const vipu::Partition& partition) const {
  const std::string& holder = partition.job;
  if (holder.empty()) return {};
  const auto job = jobOf(holder);
  const std::string user = job ? parts_.user_of(*job) : programsUser(holder);
  if (user == caller.user) return {};
  return PodAccess::checkManages(caller, "take partition " + inQuotes(partition.id) + " from " +
                                             holderText(holder) + (job ? " of user " + inQuotes(user) : ""));
}

// With force, a job that holds it is cancelled, and the partition goes when the job has ended; a program that
// holds it loses it.
Status VipuService::remove(const Caller& caller, const virmgrpc::RemovePartitionRequest& request) {
  const std::string& id = request.partition_id();
  POP_ASSIGN_OR_RETURN(const vipu::Partition* const partition, PodAccess::partitionFor(caller, id, table()));
  if (!request.force()) POP_RETURN_IF_ERROR(checkFree(*partition, "cancel that, or remove it with force"));
  POP_RETURN_IF_ERROR(checkTakes(caller, *partition));
  const std::string holder = partition->job;
  const std::string why = "partition " + id + " was removed with force by " + caller.user;
  if (!tokenOf(holder).empty()) parts_.holds.end(holder, Status(Code::kAborted, why));
  Result<vipu::Change> change = table().remove(id, request.force(), parts_.partitions.now());
  POP_RETURN_IF_ERROR(parts_.partitions.keep(std::move(change)));
  if (const auto job = jobOf(holder)) parts_.cancel(*job, why);
  return {};
}

void VipuService::resetPartition(const Caller& caller, virmgrpc::ResetPartitionRequest request,
                                 Reply<virmgrpc::ResetPartitionReply> reply) {
  answer(reset(caller, request), virmgrpc::ResetPartitionReply(), std::move(reply));
}

Status VipuService::reset(const Caller& caller, const virmgrpc::ResetPartitionRequest& request) {
  const std::string& id = request.partition_id();
  POP_ASSIGN_OR_RETURN(const vipu::Partition* const partition, PodAccess::partitionFor(caller, id, table()));
  POP_RETURN_IF_ERROR(checkFree(*partition, "cancel that, then reset the partition"));
  return parts_.partitions.keep(table().reset(id, request.relocatable(), parts_.partitions.now()));
}

void VipuService::getPartitionIpuofConfig(const Caller& caller,
                                          virmgrpc::GetPartitionIpuofConfigRequest request,
                                          Reply<virmgrpc::GetPartitionIpuofConfigReply> reply) {
  reply(ipuofConfig(caller, request));
}

Result<virmgrpc::GetPartitionIpuofConfigReply> VipuService::ipuofConfig(
    const Caller& caller, const virmgrpc::GetPartitionIpuofConfigRequest& request) {
  POP_ASSIGN_OR_RETURN(const vipu::Partition* const partition,
                       PodAccess::partitionFor(caller, request.partition_id(), table()));
  std::vector<vipu::GcdConfig> gcds;
  if (request.has_gcd_id()) {
    POP_ASSIGN_OR_RETURN(vipu::GcdConfig one,
                         vipu::gcdConfig(*partition, request.gcd_id().id(), table().inventory()));
    gcds.push_back(std::move(one));
  } else {
    POP_ASSIGN_OR_RETURN(gcds, vipu::gcdConfigs(*partition, table().inventory()));
  }
  virmgrpc::GetPartitionIpuofConfigReply reply;
  *reply.mutable_ipuof_config() = vipu::toWire(partition->spec, gcds, parts_.version);
  return reply;
}

void VipuService::getPartitionStatus(const Caller& caller, virmgrpc::GetPartitionStatusRequest request,
                                     Reply<virmgrpc::GetPartitionStatusReply> reply) {
  const auto partition = PodAccess::partitionFor(caller, request.partition_id(), table());
  if (!partition.ok()) return reply(partition.status());
  virmgrpc::GetPartitionStatusReply status;
  *status.mutable_status() = vipu::statusToWire(*partition.value());
  reply(std::move(status));
}

void VipuService::getVersion(const Caller&, virmgrpc::VersionRequest, Reply<virmgrpc::VersionReply> reply) {
  virmgrpc::VersionReply version;
  version.set_version(parts_.version);
  reply(std::move(version));
}

}  // namespace pop::popdistd
