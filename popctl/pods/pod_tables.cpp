// SPDX-License-Identifier: Apache-2.0
#include "popctl/pods/pod_tables.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/json.h"
#include "common/base/text.h"
#include "common/wire/message_json.h"
#include "popdistd/partitions/partition.h"

namespace pop::popctl {
namespace {

using Row = std::vector<std::string>;

enum class Rules : std::uint8_t { kAroundRows, kAroundAll };

template <typename Enum, typename Wire>
std::string nameOf(Wire number) {
  return vipu::nameOf(static_cast<Enum>(number));
}

// One blank before and after each cell. The last is not padded, so that lines have no blanks at their end.
std::string lineOf(const Row& row, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    line += (i == 0 ? " " : " | ") + row[i];
    if (i + 1 < row.size()) line.append(widths[i] - row[i].size(), ' ');
  }
  while (line.ends_with(' ')) line.pop_back();
  return line + '\n';
}

std::string tableOf(const Row& titles, const std::vector<Row>& rows, Rules rules = Rules::kAroundRows) {
  std::vector<std::size_t> widths;
  std::size_t width = 0;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    widths.push_back(titles[i].size());
    for (const Row& row : rows) widths[i] = std::max(widths[i], row[i].size());
    width += widths[i] + (i == 0 ? 2 : 3);
  }
  const std::string rule = std::string(width, '-') + '\n';
  std::string text = (rules == Rules::kAroundAll ? rule : "") + lineOf(titles, widths) + rule;
  for (const Row& row : rows) text += lineOf(row, widths);
  return text + rule;
}

template <typename Strings>
std::string joined(const Strings& strings, const std::string& separator) {
  std::string text;
  for (const std::string& each : strings) text += (text.empty() ? "" : separator) + printable(each);
  return text;
}

std::size_t ipusOf(const virmgrpc::Partition& partition) {
  return static_cast<std::size_t>(partition.spec().ipus_size());
}

Row rowOf(const virmgrpc::Partition& partition) {
  const virmgrpc::PartitionSpec& spec = partition.spec();
  return {printable(partition.id()),
          printable(spec.cluster_id()),
          std::to_string(std::max(spec.num_ipulink_segments(), 1U)),
          nameOf<vipu::GatewayRouting>(spec.gw_routing_type()),
          nameOf<vipu::IpuLinkRouting>(spec.ipulink_routing_type()),
          std::to_string(ipusOf(partition)),
          std::to_string(std::max(spec.num_gcds(), 1U)),
          nameOf<vipu::ReadyState>(partition.ready_state())};
}

const char* agentState(const v1::AgentInfo& agent) {
  if (agent.lost()) return "Down";
  return agent.drained() ? "Drained" : "Up";
}

std::string holderOf(const v1::PartitionInfo& info) {
  return info.job() != 0 ? "job " + std::to_string(info.job()) : printable(info.holder());
}

}  // namespace

std::string stateText(const virmgrpc::PartitionStatus& status) {
  const std::string ready = nameOf<vipu::ReadyState>(status.ready_state());
  if (status.operation_state() == virmgrpc::POS_IDLE || status.operation_state() == virmgrpc::POS_UNDEFINED)
    return ready;
  return ready + '/' + nameOf<vipu::OperationState>(status.operation_state());
}

std::string partitionsTable(const virmgrpc::ListPartitionsReply& reply) {
  std::vector<Row> rows;
  for (const virmgrpc::Partition& each : reply.partitions()) rows.push_back(rowOf(each));
  return tableOf({"Partition", "Cluster", "ILDs", "GW Routing", "ILD Routing", "Size", "GCDs", "State"},
                 rows);
}

std::string allocationsTable(const v1::ListAllocationsReply& reply) {
  std::vector<Row> rows;
  for (const v1::AllocationInfo& each : reply.allocations())
    rows.push_back({printable(each.id()), joined(each.agents(), " ")});
  return tableOf({"Allocation ID", "Agents"}, rows, Rules::kAroundAll);
}

std::string clustersTable(const v1::ListClustersReply& reply) {
  std::vector<Row> rows;
  for (const v1::ClusterInfo& each : reply.clusters()) {
    rows.push_back(
        {printable(each.id()), std::to_string(each.num_ilds()), std::to_string(each.machines_per_ild()),
         each.topology() == v1::ILD_TORUS ? "TORUS" : "MESH",
         each.gateways() == v1::GATEWAY_SWITCHED ? "SWITCHED" : "LOOPED", std::to_string(each.num_agents())});
  }
  return tableOf({"Cluster", "ILDs", "Agents per ILD", "ILD Topology", "GW Topology", "Agents"}, rows);
}

std::string agentsTable(const v1::ListAgentsReply& reply) {
  std::vector<Row> rows;
  for (const v1::AgentInfo& each : reply.agents()) {
    rows.push_back({printable(each.id()), printable(each.cluster()), std::to_string(each.ild()),
                    std::to_string(each.position()), printable(each.host()), printable(each.ip()),
                    printable(each.allocation()), agentState(each), printable(each.drain_reason())});
  }
  return tableOf({"Agent", "Cluster", "ILD", "Position", "Host", "IP", "Allocation", "Status", "Reason"},
                 rows);
}

std::string ipuAttributesTable(const virmgrpc::ListIPUAttributesReply& reply) {
  std::vector<Row> rows;
  for (const auto& entry : reply.entries()) {
    std::string agent = printable(entry.agent());
    const auto& of_ipus = entry.ipu_attributes();
    for (const auto& [id, ipu] : std::map(of_ipus.begin(), of_ipus.end())) {
      std::string number = std::to_string(id);
      const auto& attributes = ipu.attributes();
      for (const auto& [key, value] : std::map(attributes.begin(), attributes.end()))
        rows.push_back(
            {std::exchange(agent, ""), std::exchange(number, ""), printable(key), printable(value)});
    }
  }
  return tableOf({"Agent", "IPU", "Attribute", "Value"}, rows);
}

std::string partitionTable(const virmgrpc::Partition& partition, const virmgrpc::PartitionStatus& status,
                           const v1::PartitionInfo* info) {
  const virmgrpc::PartitionSpec& spec = partition.spec();
  std::vector<Row> rows{{"Partition", printable(partition.id())},
                        {"State", stateText(status)},
                        {"Cluster", printable(spec.cluster_id())},
                        {"Allocation", printable(spec.allocation_id())},
                        {"Size", std::to_string(ipusOf(partition))},
                        {"ILDs", std::to_string(spec.num_ipulink_segments())},
                        {"GCDs", std::to_string(spec.num_gcds())},
                        {"Replicas", std::to_string(spec.num_replicas())},
                        {"Reconfigurable", spec.reconfigurable() ? "true" : "false"},
                        {"ILD Routing", nameOf<vipu::IpuLinkRouting>(spec.ipulink_routing_type())},
                        {"GW Routing", nameOf<vipu::GatewayRouting>(spec.gw_routing_type())},
                        {"Sync Type", nameOf<vipu::SyncType>(spec.sync_type())},
                        {"IPUoF server version", printable(partition.ipuof_server_version())}};
  if (info != nullptr) {
    rows.push_back({"Owner", printable(info->owner())});
    if (const std::string holder = holderOf(*info); !holder.empty()) rows.push_back({"Held by", holder});
  }
  for (const std::string& error : status.errors()) rows.push_back({"Error", printable(error)});
  return tableOf({"Key", "Value"}, rows);
}

Result<std::string> vipuJson(const virmgrpc::ListPartitionsReply& reply) {
  std::string text;
  for (const virmgrpc::Partition& each : reply.partitions()) {
    POP_ASSIGN_OR_RETURN(const std::string json, wire::toJson(each));
    text += (text.empty() ? "" : ",") + JsonObject().json("partition", json).str();
  }
  return '[' + text + ']';
}

std::string vipuJson(const v1::ListClustersReply& clusters, const v1::ListAgentsReply& agents) {
  std::string text;
  for (const v1::ClusterInfo& cluster : clusters.clusters()) {
    std::string ilds;
    for (int ild = 0; ild < cluster.num_ilds(); ++ild) {
      std::string ipus;
      for (const v1::AgentInfo& agent : agents.agents()) {
        if (agent.cluster() != cluster.id() || agent.ild() != ild) continue;
        for (int ipu = 0; ipu < vipu::kMachineIpus; ++ipu)
          ipus += (ipus.empty() ? "" : ",") +
                  JsonObject().number("topology_id", agent.position() * vipu::kMachineIpus + ipu).str();
      }
      ilds += (ilds.empty() ? "" : ",") + JsonObject().json("ipus", '[' + ipus + ']').str();
    }
    text += (text.empty() ? "" : ",") +
            JsonObject()
                .text("id", cluster.id())
                .json("spec", JsonObject().json("ipu_link_domains", '[' + ilds + ']').str())
                .str();
  }
  return '[' + text + ']';
}

}  // namespace pop::popctl
