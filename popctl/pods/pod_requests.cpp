// SPDX-License-Identifier: Apache-2.0
#include "popctl/pods/pod_requests.h"

#include <set>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "popdistd/partitions/cluster.h"

namespace pop::popctl {
namespace {

// pods.proto's defaults of missing fields.
int ildsOf(const v1::ClusterInfo& cluster) {
  return cluster.has_num_ilds() ? cluster.num_ilds() : 1;
}
int machinesOf(const v1::ClusterInfo& cluster) {
  return cluster.has_machines_per_ild() ? cluster.machines_per_ild() : vipu::kMaxIldMachines;
}

vipu::GcdConfig gcdOf(const virmgrpc::PartitionConfig::Gcd& message) {
  vipu::GcdConfig config;
  for (const virmgrpc::IpuofDevice& device : message.devices()) {
    config.devices.push_back({.ip = device.ip(),
                              .server_port = static_cast<int>(device.server_port()),
                              .rdma_port = static_cast<int>(device.rdma_port()),
                              .device_id = static_cast<int>(device.device_id()),
                              .ipulink_segment_id = static_cast<int>(device.ipulink_segment_id()),
                              .routing_id = static_cast<int>(device.routing_id()),
                              .ipu_arch_id = static_cast<int>(device.ipu_arch_id()),
                              .ipu_id = static_cast<int>(device.ipu_id()),
                              .chip_id = device.chip_id(),
                              .gwsw_version = device.gwsw_version(),
                              .ipum_sw_version = device.ipum_sw_version()});
  }
  config.attributes.insert(message.attributes().begin(), message.attributes().end());
  return config;
}

}  // namespace

virmgrpc::CreatePartitionRequest createPartitionRequest(const Command& command) {
  const PodOptions& pods = command.pods;
  virmgrpc::CreatePartitionRequest request;
  request.set_relocatable(pods.relocatable);
  request.set_disable_auto_reset(pods.no_auto_reset);
  virmgrpc::PartitionRequirements& requirements = *request.mutable_requirements();
  requirements.set_id(command.object);
  requirements.set_size(pods.size);
  requirements.set_cluster_id(pods.cluster);
  requirements.set_allocation_id(pods.allocation);
  requirements.set_num_gcds(pods.num_gcds);
  requirements.set_num_replicas(pods.num_replicas);
  requirements.set_num_ipulink_segments(pods.num_segments);
  requirements.set_reconfigurable(pods.reconfigurable);
  requirements.set_ipulink_routing_type(static_cast<virmgrpc::IpuLinkRoutingType>(pods.routing));
  requirements.set_gw_routing_type(static_cast<virmgrpc::GatewayRoutingType>(pods.gateway_routing));
  requirements.set_sync_type(static_cast<virmgrpc::SyncType>(pods.sync));
  return request;
}

Status nameIpus(std::uint32_t index, const v1::ClusterInfo& cluster,
                virmgrpc::PartitionRequirements& requirements) {
  const std::uint64_t per_ild =
      static_cast<std::uint64_t>(machinesOf(cluster)) * static_cast<std::uint64_t>(vipu::kMachineIpus);
  const std::uint64_t all = per_ild * static_cast<std::uint64_t>(ildsOf(cluster));
  const std::uint64_t size = requirements.size();
  const std::uint64_t first = size * index;
  if (size == 0 || first + size > all) {
    return invalidArgument("--index " + std::to_string(index) + ": cluster " + inQuotes(cluster.id()) +
                           " has " + counted(static_cast<std::int64_t>(all), "IPU") + ", " +
                           counted(size == 0 ? 0 : static_cast<std::int64_t>(all / size), "block") + " of " +
                           std::to_string(size) + ", counted from 0");
  }
  requirements.set_cluster_id(cluster.id());
  for (std::uint64_t ipu = first; ipu < first + size; ++ipu) {
    virmgrpc::PartitionIpu& named = *requirements.add_ipus();
    named.set_ipulink_domain_topology_id(static_cast<std::uint32_t>(ipu / per_ild));
    named.set_topology_id(static_cast<std::uint32_t>(ipu % per_ild));
  }
  return {};
}

v1::ClusterInfo clusterOf(const Command& command) {
  v1::ClusterInfo cluster;
  cluster.set_id(command.object);
  if (command.pods.num_ilds) cluster.set_num_ilds(*command.pods.num_ilds);
  if (command.pods.machines_per_ild) cluster.set_machines_per_ild(*command.pods.machines_per_ild);
  cluster.set_topology(static_cast<v1::IldTopology>(command.pods.topology));
  cluster.set_gateways(static_cast<v1::GatewayTopology>(command.pods.gateways));
  return cluster;
}

Result<v1::AgentInfo> agentOf(const Command& command, const v1::ClusterInfo& cluster,
                              const v1::ListAgentsReply& there) {
  v1::AgentInfo agent;
  agent.set_id(command.object);
  agent.set_cluster(cluster.id());
  agent.set_host(command.pods.host);
  agent.set_ip(command.pods.ip);
  if (command.pods.ild && command.pods.position) {
    agent.set_ild(*command.pods.ild);
    agent.set_position(*command.pods.position);
    return agent;
  }
  std::set<std::pair<int, int>> taken;
  for (const v1::AgentInfo& each : there.agents()) {
    if (each.cluster() == cluster.id()) taken.emplace(each.ild(), each.position());
  }
  for (int ild = 0; ild < ildsOf(cluster); ++ild) {
    for (int position = 0; position < machinesOf(cluster); ++position) {
      if (taken.contains({ild, position})) continue;
      agent.set_ild(ild);
      agent.set_position(position);
      return agent;
    }
  }
  return failedPrecondition("cluster " + inQuotes(cluster.id()) + " has no place for another IPU-Machine");
}

v1::CreateAllocationRequest allocationRequest(const Command& command) {
  v1::CreateAllocationRequest request;
  v1::AllocationInfo& allocation = *request.mutable_allocation();
  allocation.set_id(command.object);
  allocation.set_cluster(command.pods.cluster);
  for (const std::string& agent : command.pods.agents) allocation.add_agents(agent);
  for (const std::string& user : command.pods.users) allocation.add_users(user);
  request.set_replace(command.pods.replace);
  return request;
}

Result<v1::ClusterInfo> chosenCluster(const v1::ListClustersReply& clusters, const std::string& name) {
  if (name.empty() && clusters.clusters_size() == 1) return clusters.clusters(0);
  for (const v1::ClusterInfo& each : clusters.clusters()) {
    if (each.id() == name) return each;
  }
  if (!name.empty()) return Status(Code::kNotFound, "there is no cluster " + inQuotes(name));
  return invalidArgument("there are " + counted(clusters.clusters_size(), "cluster") +
                         ": say which with --cluster");
}

std::vector<vipu::GcdConfig> gcdsOf(const virmgrpc::PartitionConfig& config) {
  std::vector<vipu::GcdConfig> gcds;
  for (const virmgrpc::PartitionConfig::Gcd& each : config.gcd_configs()) gcds.push_back(gcdOf(each));
  return gcds;
}

}  // namespace pop::popctl
