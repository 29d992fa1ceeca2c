// SPDX-License-Identifier: Apache-2.0
#include "poprun/daemon/obtain_partition.h"

#include <cstdio>
#include <optional>
#include <thread>

#include "common/base/text.h"
#include "popctl/pods/partition_wiring.h"
#include "popdistd/partitions/partition_system.h"

namespace pop::daemon {
namespace {

constexpr std::chrono::milliseconds kPause{100};

// Prints PopRun's message to its users, in its words.
void say(const std::string& words) {
  std::fprintf(stderr, "poprun: %s\n", printable(words).c_str());
}
void sayIfVerbose(const PartitionOrder& order, const std::string& words) {
  if (order.verbose) say(words);
}

std::uint32_t ipusOf(const PartitionOrder& order) {
  return static_cast<std::uint32_t>(model::partitionIpus(order.job));
}
std::uint32_t gcdsOf(const PartitionOrder& order) {
  return static_cast<std::uint32_t>(order.job.num_instances);
}
// 0: any.
virmgrpc::SyncType syncOf(const PartitionOrder& order) {
  virmgrpc::SyncType sync = {};
  virmgrpc::SyncType_Parse(order.job.partition.sync_type, &sync);
  return sync;
}

Result<std::string> onlyPartition(const PartitionOrder& order, PodsClient& client) {
  virmgrpc::ListPartitionsRequest request;
  request.set_allocation_id(order.job.partition.allocation);
  POP_ASSIGN_OR_RETURN(const virmgrpc::ListPartitionsReply reply, client.listPartitions(request));
  if (reply.partitions_size() != 1)
    return Status(Code::kNotFound, "no V-IPU partition is named, and there are " +
                                       counted(reply.partitions_size(), "partition") +
                                       ": name one with --vipu-partition");
  say("Using V-IPU partition " + reply.partitions(0).id() + " as it is the only one available");
  return reply.partitions(0).id();
}

Result<virmgrpc::PartitionSpec> specOf(PodsClient& client, const std::string& id) {
  POP_ASSIGN_OR_RETURN(const virmgrpc::ListPartitionsReply reply,
                       client.listPartitions(virmgrpc::ListPartitionsRequest()));
  for (const virmgrpc::Partition& each : reply.partitions()) {
    if (each.id() == id) return each.spec();
  }
  return Status(Code::kNotFound, "there is no partition " + inQuotes(id));
}

Status create(const PartitionOrder& order, PodsClient& client, const std::string& id, Deadline deadline) {
  virmgrpc::CreatePartitionRequest request;
  virmgrpc::PartitionRequirements& requirements = *request.mutable_requirements();
  requirements.set_id(id);
  requirements.set_size(ipusOf(order));
  requirements.set_allocation_id(order.job.partition.allocation);
  requirements.set_num_gcds(gcdsOf(order));
  const auto replicas = static_cast<std::uint32_t>(order.job.num_replicas);
  const bool is_even = gcdsOf(order) != 0 && replicas % gcdsOf(order) == 0;
  requirements.set_num_replicas(is_even ? replicas : 0);  // 0: one for each GCD
  requirements.set_num_ipulink_segments(static_cast<std::uint32_t>(model::countIlds(order.job)));
  requirements.set_sync_type(syncOf(order));
  sayIfVerbose(order, "Creating V-IPU partition " + id);
  POP_RETURN_IF_ERROR(client.createPartition(request).status());
  return waitUntilActive(client, id, deadline);
}

Status reset(const PartitionOrder& order, PodsClient& client, const std::string& id, Deadline deadline) {
  virmgrpc::ResetPartitionRequest request;
  request.set_partition_id(id);
  sayIfVerbose(order, "Resetting V-IPU partition " + id);
  POP_RETURN_IF_ERROR(client.resetPartition(request).status());
  return waitUntilActive(client, id, deadline);
}

Result<JobPartition> existing(const PartitionOrder& order, PodsClient& client,
                              const virmgrpc::PartitionStatus& status, Deadline deadline) {
  const std::string& id = status.partition_id();
  sayIfVerbose(order, "The partition " + id + " already exists and is in state: " +
                          virmgrpc::PartitionReadyState_Name(status.ready_state()));
  POP_ASSIGN_OR_RETURN(const virmgrpc::PartitionSpec spec, specOf(client, id));
  if (const std::string wrong = misfit(order, spec); !wrong.empty()) {
    if (!order.job.partition.update)
      return failedPrecondition("partition " + inQuotes(id) + " " + wrong +
                                " (--update-partition makes it anew)");
    POP_RETURN_IF_ERROR(removePartition(client, id, deadline));
    POP_RETURN_IF_ERROR(create(order, client, id, deadline));
    return JobPartition{.id = id, .made = true};
  }
  if (order.job.partition.reset.value_or(!spec.reconfigurable())) {
    POP_RETURN_IF_ERROR(reset(order, client, id, deadline));
  } else {
    POP_RETURN_IF_ERROR(waitUntilActive(client, id, deadline));
  }
  sayIfVerbose(order, std::string("The ") + (spec.reconfigurable() ? "reconfigurable " : "") + "partition " +
                          id + " is OK");
  return JobPartition{.id = id};
}

}  // namespace

Result<std::string> systemIn(const PartitionOrder& order, PodsClient& client, const std::string& id) {
  POP_ASSIGN_OR_RETURN(const virmgrpc::PartitionSpec message, specOf(client, id));
  return vipu::systemFor(order.job, id, popctl::wiredAs(message));
}

std::string misfit(const PartitionOrder& order, const virmgrpc::PartitionSpec& spec) {
  const auto ipus = static_cast<std::uint32_t>(spec.ipus_size());
  const std::uint32_t needed = ipusOf(order);
  const bool fits =
      spec.num_gcds() == gcdsOf(order) && (ipus == needed || (spec.reconfigurable() && ipus > needed));
  if (!fits)
    return "has " + counted(ipus, "IPU") + " in " + counted(spec.num_gcds(), "GCD") + ", and the job needs " +
           counted(needed, "IPU") + " in " + std::to_string(gcdsOf(order));
  const virmgrpc::SyncType sync = syncOf(order);
  if (sync == 0 || sync == spec.sync_type()) return "";
  return std::string("has sync type ") + vipu::nameOf(static_cast<vipu::SyncType>(spec.sync_type())) +
         ", and the job asks for " + vipu::nameOf(static_cast<vipu::SyncType>(sync));
}

Status removePartition(PodsClient& client, const std::string& partition, Deadline deadline) {
  virmgrpc::RemovePartitionRequest request;
  request.set_partition_id(partition);
  while (true) {
    const Status removed = client.removePartition(request).status();
    if (removed.ok()) return waitUntilGone(client, partition, deadline);
    if (removed.code() == Code::kNotFound) return {};
    const bool held = removed.code() == Code::kFailedPrecondition;
    if (!held || std::chrono::steady_clock::now() + kPause >= deadline) return removed;
    std::this_thread::sleep_for(kPause);
  }
}

Result<JobPartition> jobPartition(const PartitionOrder& order, PodsClient& client, Deadline deadline) {
  std::string id = order.job.partition.name;
  if (id.empty()) {
    POP_ASSIGN_OR_RETURN(id, onlyPartition(order, client));
  }
  Result<virmgrpc::PartitionStatus> status = client.partitionStatus(id);
  if (status.code() == Code::kNotFound) {
    POP_RETURN_IF_ERROR(create(order, client, id, deadline));
    return JobPartition{.id = id, .made = true};
  }
  if (!status.ok()) return status.status();
  sayIfVerbose(order, "Status for partition " + id + ": OK (error 0)");
  status->set_partition_id(id);
  return existing(order, client, status.value(), deadline);
}

}  // namespace pop::daemon
