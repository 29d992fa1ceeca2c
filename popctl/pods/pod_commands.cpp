// SPDX-License-Identifier: Apache-2.0
#include "popctl/pods/pod_commands.h"

#include "popctl/answered.h"
#include "popctl/pods/pod_requests.h"
#include "popctl/pods/pod_tables.h"

namespace pop::popctl {
namespace {

template <typename Ref>
Ref refTo(const std::string& id) {
  Ref ref;
  ref.set_id(id);
  return ref;
}

v1::ListAgentsRequest agentsOf(const std::string& cluster) {
  v1::ListAgentsRequest request;
  request.set_cluster(cluster);
  return request;
}

int printed(const Command& command, const Result<std::string>& text) {
  return text.ok() ? printText(text.value() + '\n') : failed(command, text.status());
}

int listPartitions(const Command& command, PodsClient& client) {
  virmgrpc::ListPartitionsRequest request;
  request.set_allocation_id(command.pods.allocation);
  const Result<virmgrpc::ListPartitionsReply> reply = client.listPartitions(request);
  if (reply.ok() && command.common.vipu_json) return printed(command, vipuJson(reply.value()));
  return shown(command, reply, partitionsTable);
}

int listClusters(const Command& command, PodsClient& client) {
  const Result<v1::ListClustersReply> clusters = client.listClusters({});
  if (!clusters.ok() || !command.common.vipu_json) return shown(command, clusters, clustersTable);
  const Result<v1::ListAgentsReply> agents = client.listAgents({});
  if (!agents.ok()) return failed(command, agents.status());
  return printed(command, vipuJson(clusters.value(), agents.value()));
}

int listIpuAttributes(const Command& command, PodsClient& client) {
  virmgrpc::ListIPUAttributesRequest request;
  for (const std::string& agent : command.pods.agents) request.add_agents(agent);
  return shown(command, client.listIpuAttributes(request), ipuAttributesTable);
}

Result<v1::ClusterInfo> askForCluster(const Command& command, PodsClient& client) {
  POP_ASSIGN_OR_RETURN(const v1::ListClustersReply clusters, client.listClusters({}));
  return chosenCluster(clusters, command.pods.cluster);
}

Result<v1::AgentInfo> createAgent(const Command& command, PodsClient& client) {
  POP_ASSIGN_OR_RETURN(const v1::ClusterInfo cluster, askForCluster(command, client));
  POP_ASSIGN_OR_RETURN(const v1::ListAgentsReply there, client.listAgents(agentsOf(cluster.id())));
  POP_ASSIGN_OR_RETURN(const v1::AgentInfo agent, agentOf(command, cluster, there));
  return client.createAgent(agent);
}

Result<v1::AgentInfo> drainAgent(const Command& command, PodsClient& client) {
  v1::DrainAgentRequest request;
  request.mutable_agent()->set_id(command.object);
  request.set_reason(command.reason);
  return client.drainAgent(request);
}

Result<v1::AllocationInfo> createAllocation(const Command& command, PodsClient& client) {
  v1::CreateAllocationRequest request = allocationRequest(command);
  POP_ASSIGN_OR_RETURN(const v1::ClusterInfo cluster, askForCluster(command, client));
  request.mutable_allocation()->set_cluster(cluster.id());
  return client.createAllocation(request);
}

}  // namespace

int askOfPods(const Command& command, PodsClient& client) {
  switch (command.action) {
    case Action::kListPartitions:
      return listPartitions(command, client);
    case Action::kListIpuAttributes:
      return listIpuAttributes(command, client);
    case Action::kListClusters:
      return listClusters(command, client);
    case Action::kListAgents:
      return shown(command, client.listAgents(agentsOf(command.pods.cluster)), agentsTable);
    case Action::kListAllocations:
      return shown(command, client.listAllocations({}), allocationsTable);
    case Action::kCreateCluster:
      return answered(command, client.createCluster(clusterOf(command)));
    case Action::kRemoveCluster:
      return answered(command, client.removeCluster(refTo<v1::ClusterRef>(command.object)));
    case Action::kCreateAgent:
      return answered(command, createAgent(command, client));
    case Action::kRemoveAgent:
      return answered(command, client.removeAgent(refTo<v1::AgentRef>(command.object)));
    case Action::kDrainAgent:
      return answered(command, drainAgent(command, client));
    case Action::kResumeAgent:
      return answered(command, client.resumeAgent(refTo<v1::AgentRef>(command.object)));
    case Action::kCreateAllocation:
      return answered(command, createAllocation(command, client));
    case Action::kRemoveAllocation:
      return answered(command, client.removeAllocation(refTo<v1::AllocationRef>(command.object)));
    default:
      return askOfPartition(command, client);
  }
}

}  // namespace pop::popctl
