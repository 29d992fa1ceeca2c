// SPDX-License-Identifier: Apache-2.0
// Commands on one partition.
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "common/base/text.h"
#include "popctl/answered.h"
#include "popctl/pods/ipuof_files.h"
#include "popctl/pods/partition_wiring.h"
#include "popctl/pods/pod_commands.h"
#include "popctl/pods/pod_requests.h"
#include "popctl/pods/pod_tables.h"
#include "popctl/pods/pod_wait.h"
#include "popctl/rpc/exit_codes.h"
#include "popdistd/partitions/partition_system.h"

namespace pop::popctl {
namespace {

Deadline deadlineOf(const PodsClient& client) {
  return std::chrono::steady_clock::now() + client.timeout();
}

Result<virmgrpc::PartitionConfig> configOf(PodsClient& client, const std::string& partition,
                                           std::optional<std::uint32_t> gcd) {
  virmgrpc::GetPartitionIpuofConfigRequest request;
  request.set_partition_id(partition);
  if (gcd) request.mutable_gcd_id()->set_id(*gcd);
  POP_ASSIGN_OR_RETURN(const virmgrpc::GetPartitionIpuofConfigReply reply,
                       client.getPartitionIpuofConfig(request));
  return reply.ipuof_config();
}

Result<virmgrpc::CreatePartitionReply> create(const Command& command, PodsClient& client) {
  const Deadline deadline = deadlineOf(client);
  virmgrpc::CreatePartitionRequest request = createPartitionRequest(command);
  if (command.pods.index) {
    POP_ASSIGN_OR_RETURN(const v1::ListClustersReply clusters, client.listClusters({}));
    POP_ASSIGN_OR_RETURN(const v1::ClusterInfo cluster, chosenCluster(clusters, command.pods.cluster));
    POP_RETURN_IF_ERROR(nameIpus(*command.pods.index, cluster, *request.mutable_requirements()));
  }
  POP_ASSIGN_OR_RETURN(const virmgrpc::CreatePartitionReply reply, client.createPartition(request));
  POP_RETURN_IF_ERROR(waitUntilActive(client, command.object, deadline));
  return reply;
}

Status writeFiles(const Command& command, PodsClient& client) {
  POP_ASSIGN_OR_RETURN(const std::string directory, ipuofDirectory(std::getenv("HOME")));
  POP_ASSIGN_OR_RETURN(const virmgrpc::PartitionConfig config,
                       configOf(client, command.object, std::nullopt));
  return writeIpuofFiles(directory, command.object, gcdsOf(config));
}

// The request is done; files here are another matter.
int withFiles(int exit_code, const Status& files) {
  if (files.ok()) return exit_code;
  std::fprintf(stderr, "popctl: the partition's IPU over Fabric files: %s\n",
               printable(files.message()).c_str());
  return exit_code != 0 ? exit_code : kExitRefused;
}

int createPartition(const Command& command, PodsClient& client) {
  const Result<virmgrpc::CreatePartitionReply> reply = create(command, client);
  const bool has_files = reply.ok() && !command.pods.no_ipuof_files;
  const Status files = has_files ? writeFiles(command, client) : Status();
  return withFiles(answered(command, reply), files);
}

Status reset(const Command& command, PodsClient& client) {
  const Deadline deadline = deadlineOf(client);
  virmgrpc::ResetPartitionRequest request;
  request.set_partition_id(command.object);
  request.set_relocatable(command.pods.relocatable);
  POP_RETURN_IF_ERROR(client.resetPartition(request).status());
  return waitUntilActive(client, command.object, deadline);
}

Status remove(const Command& command, PodsClient& client) {
  const Deadline deadline = deadlineOf(client);
  virmgrpc::RemovePartitionRequest request;
  request.set_partition_id(command.object);
  request.set_force(command.pods.force);
  POP_RETURN_IF_ERROR(client.removePartition(request).status());
  return waitUntilGone(client, command.object, deadline);
}

int removePartition(const Command& command, PodsClient& client) {
  const Status removed = remove(command, client);
  Status files;
  if (removed.ok()) {
    // Without a home there are no files.
    const Result<std::string> directory = ipuofDirectory(std::getenv("HOME"));
    if (directory.ok()) files = removeIpuofFiles(directory.value(), command.object);
  }
  return withFiles(answered(command, removed), files);
}

int releasePartition(const Command& command, PodsClient& client) {
  v1::ReleasePartitionRequest request;
  request.set_partition(command.object);
  request.set_force(command.pods.force);
  request.set_reason(command.reason.empty() ? "no reason given" : command.reason);
  return answered(command, client.releasePartition(request));
}

Result<virmgrpc::Partition> find(PodsClient& client, const std::string& id) {
  POP_ASSIGN_OR_RETURN(const virmgrpc::ListPartitionsReply reply,
                       client.listPartitions(virmgrpc::ListPartitionsRequest()));
  for (const virmgrpc::Partition& each : reply.partitions()) {
    if (each.id() == id) return each;
  }
  return Status(Code::kNotFound, "there is no partition " + inQuotes(id));
}

int getPartition(const Command& command, PodsClient& client) {
  const Result<virmgrpc::PartitionStatus> status = client.partitionStatus(command.object);
  if (!status.ok()) return failed(command, status.status());
  const Result<virmgrpc::Partition> partition = find(client, command.object);
  if (!partition.ok()) return failed(command, partition.status());
  const Result<std::optional<v1::PartitionInfo>> info = client.partitionInfo(command.object);
  if (!info.ok()) return failed(command, info.status());
  const v1::PartitionInfo* const known = info.value() ? &*info.value() : nullptr;
  if (command.common.json)
    return known != nullptr && !command.common.vipu_json ? printJson(*known) : printJson(partition.value());
  return printText(partitionTable(partition.value(), status.value(), known));
}

int showSystem(const Command& command, PodsClient& client) {
  const Result<virmgrpc::Partition> partition = find(client, command.object);
  if (!partition.ok()) return failed(command, partition.status());
  const Result<std::string> system =
      vipu::systemFor(model::JobSpec(), command.object, wiredAs(partition.value().spec()));
  return system.ok() ? printText(system.value() + '\n') : failed(command, system.status());
}

// One GCD alone is its file's text. Scripts that ask for all cut off a first line.
std::string configsText(const Command& command, const virmgrpc::PartitionConfig& config) {
  const std::vector<vipu::GcdConfig> gcds = gcdsOf(config);
  std::string text;
  for (std::size_t gcd = 0; gcd < gcds.size(); ++gcd) {
    if (!command.pods.gcd) text += "GCD " + std::to_string(gcd) + ":\n";
    text += vipu::ipuofFileText(gcds[gcd]);
  }
  return text;
}

}  // namespace

int askOfPartition(const Command& command, PodsClient& client) {
  switch (command.action) {
    case Action::kCreatePartition:
      return createPartition(command, client);
    case Action::kResetPartition:
      return answered(command, reset(command, client));
    case Action::kRemovePartition:
      return removePartition(command, client);
    case Action::kReleasePartition:
      return releasePartition(command, client);
    default:
      if (command.pods.system) return showSystem(command, client);
      if (!command.pods.ipuof_configs) return getPartition(command, client);
      return shown(
          command, configOf(client, command.object, command.pods.gcd),
          [&command](const virmgrpc::PartitionConfig& config) { return configsText(command, config); });
  }
}

}  // namespace pop::popctl
