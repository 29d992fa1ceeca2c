// SPDX-License-Identifier: Apache-2.0
#include "poprun/daemon/obtain_partition.h"

#include <cstdio>
#include <optional>
#include <thread>

#include "common/base/text.h"
#include "popdistd/partitions/partition.h"

namespace pop::daemon {
namespace {

constexpr std::chrono::milliseconds kPause{100};

// Prints PopRun's message to its users, in its words.
void say(const std::string& words) {
  std::fprintf(stderr, "poprun: %s\n", printable(words).c_str());
}
void sayIfVerbose(const HoldOptions& options, const std::string& words) {
  if (options.verbose) say(words);
}

Result<std::string> onlyPartition(const HoldOptions& options, PodsClient& client) {
  virmgrpc::ListPartitionsRequest request;
  request.set_allocation_id(options.allocation);
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

Status create(const HoldOptions& options, PodsClient& client, const std::string& id, Deadline deadline) {
  virmgrpc::CreatePartitionRequest request;
  virmgrpc::PartitionRequirements& requirements = *request.mutable_requirements();
  requirements.set_id(id);
  requirements.set_size(options.size);
  requirements.set_allocation_id(options.allocation);
  requirements.set_num_gcds(options.num_gcds);
  const bool is_even = options.num_gcds != 0 && options.num_replicas % options.num_gcds == 0;
  requirements.set_num_replicas(is_even ? options.num_replicas : 0);  // 0: one for each GCD
  requirements.set_num_ipulink_segments(options.num_segments);
  requirements.set_sync_type(static_cast<virmgrpc::SyncType>(options.sync));
  sayIfVerbose(options, "Creating V-IPU partition " + id);
  POP_RETURN_IF_ERROR(client.createPartition(request).status());
  return waitUntilActive(client, id, deadline);
}

Status reset(const HoldOptions& options, PodsClient& client, const std::string& id, Deadline deadline) {
  virmgrpc::ResetPartitionRequest request;
  request.set_partition_id(id);
  sayIfVerbose(options, "Resetting V-IPU partition " + id);
  POP_RETURN_IF_ERROR(client.resetPartition(request).status());
  return waitUntilActive(client, id, deadline);
}

Result<JobPartition> existing(const HoldOptions& options, PodsClient& client,
                              const virmgrpc::PartitionStatus& status, Deadline deadline) {
  const std::string& id = status.partition_id();
  sayIfVerbose(options, "The partition " + id + " already exists and is in state: " +
                            virmgrpc::PartitionReadyState_Name(status.ready_state()));
  POP_ASSIGN_OR_RETURN(const virmgrpc::PartitionSpec spec, specOf(client, id));
  if (const std::string wrong = misfit(options, spec); !wrong.empty()) {
    if (!options.update)
      return failedPrecondition("partition " + inQuotes(id) + " " + wrong +
                                " (--update-partition makes it anew)");
    POP_RETURN_IF_ERROR(removePartition(client, id, deadline));
    POP_RETURN_IF_ERROR(create(options, client, id, deadline));
    return JobPartition{.id = id, .made = true};
  }
  if (options.reset.value_or(!spec.reconfigurable())) {
    POP_RETURN_IF_ERROR(reset(options, client, id, deadline));
  } else {
    POP_RETURN_IF_ERROR(waitUntilActive(client, id, deadline));
  }
  sayIfVerbose(options, std::string("The ") + (spec.reconfigurable() ? "reconfigurable " : "") +
                            "partition " + id + " is OK");
  return JobPartition{.id = id};
}

}  // namespace

std::string misfit(const HoldOptions& options, const virmgrpc::PartitionSpec& spec) {
  const auto ipus = static_cast<std::uint32_t>(spec.ipus_size());
  const bool fits = spec.num_gcds() == options.num_gcds &&
                    (ipus == options.size || (spec.reconfigurable() && ipus > options.size));
  if (!fits)
    return "has " + counted(ipus, "IPU") + " in " + counted(spec.num_gcds(), "GCD") + ", and the job needs " +
           counted(options.size, "IPU") + " in " + std::to_string(options.num_gcds);
  if (options.sync == 0 || options.sync == spec.sync_type()) return "";
  return std::string("has sync type ") + vipu::nameOf(static_cast<vipu::SyncType>(spec.sync_type())) +
         ", and the job asks for " + vipu::nameOf(static_cast<vipu::SyncType>(options.sync));
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

Result<JobPartition> jobPartition(const HoldOptions& options, PodsClient& client, Deadline deadline) {
  std::string id = options.partition;
  if (id.empty()) {
    POP_ASSIGN_OR_RETURN(id, onlyPartition(options, client));
  }
  Result<virmgrpc::PartitionStatus> status = client.partitionStatus(id);
  if (status.code() == Code::kNotFound) {
    POP_RETURN_IF_ERROR(create(options, client, id, deadline));
    return JobPartition{.id = id, .made = true};
  }
  if (!status.ok()) return status.status();
  sayIfVerbose(options, "Status for partition " + id + ": OK (error 0)");
  status->set_partition_id(id);
  return existing(options, client, status.value(), deadline);
}

}  // namespace pop::daemon
