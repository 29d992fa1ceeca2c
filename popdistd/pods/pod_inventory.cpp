// SPDX-License-Identifier: Apache-2.0
#include "popdistd/pods/pod_inventory.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "popdistd/pods/pod_records.h"

namespace pop::popdistd {
namespace {

constexpr std::size_t kLongestHostName = 253;

// Each record of a kind, read and given to `take`.
template <typename Record>
Status forEach(Store& store, RecordKind kind, const char* what, const auto& take) {
  POP_ASSIGN_OR_RETURN(const std::vector<NamedRecord> records, store.records(kind));
  for (const NamedRecord& each : records) {
    const std::string name = std::string("the store's record of ") + what + ' ' + inQuotes(each.name);
    Record record;
    if (!record.ParseFromString(each.bytes) || record.info().id() != each.name)
      return {Code::kDataLoss, name + " cannot be read"};
    if (const Status taken = take(record.info()); !taken.ok())
      return {Code::kDataLoss, name + " is damaged: " + taken.message()};
  }
  return {};
}

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

bool isIpv4(const std::string& text) {
  const std::vector<std::string> parts = split(text, '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           return !part.empty() && part.size() <= 3 && std::all_of(part.begin(), part.end(), isDigit) &&
                  std::stoi(part) <= 255;
         });
}

bool isIpv6(const std::string& text) {
  const auto fits = [](char c) {
    return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':';
  };
  const auto colons = std::count(text.begin(), text.end(), ':');
  return colons >= 2 && colons <= 7 && text.size() <= 39 && std::all_of(text.begin(), text.end(), fits);
}

// A mistake would be found by the job that looks for its IPUs there.
Status checkPlace(const v1::AgentInfo& agent) {
  const auto fits = [](char c) {
    return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
           c == '_' || c == ':';
  };
  const std::string& host = agent.host();
  if (host.size() > kLongestHostName || !std::all_of(host.begin(), host.end(), fits))
    return invalidArgument("host is " + inQuotes(host) + ", which is no host's name");
  if (agent.ip().empty() || isIpv4(agent.ip()) || isIpv6(agent.ip())) return {};
  return invalidArgument("ip is " + inQuotes(agent.ip()) + ", which is no IP address, such as 10.1.5.9");
}

}  // namespace

Result<std::unique_ptr<vipu::PartitionTable>> PodInventory::load() {
  auto table = std::make_unique<vipu::PartitionTable>(partitions_.settings().resets);
  drained_by_.clear();
  const auto addCluster = [&](const v1::ClusterInfo& info) {
    Result<vipu::Cluster> cluster = clusterOf(info);
    return cluster.ok() ? table->addCluster(std::move(cluster.value())) : cluster.status();
  };
  const auto addAgent = [&](const v1::AgentInfo& info) {
    Status added = table->addAgent(agentOf(info));
    if (!added.ok() || !info.drained()) return added;
    drained_by_[info.id()] = info.drained_by();
    return table->drain(info.id(), info.drain_reason());
  };
  const auto addAllocation = [&](const v1::AllocationInfo& info) {
    return table->setAllocation(allocationOf(info));
  };
  POP_RETURN_IF_ERROR(forEach<v1::ClusterRecord>(store_, RecordKind::kCluster, "cluster", addCluster));
  POP_RETURN_IF_ERROR(forEach<v1::AgentRecord>(store_, RecordKind::kAgent, "agent", addAgent));
  POP_RETURN_IF_ERROR(
      forEach<v1::AllocationRecord>(store_, RecordKind::kAllocation, "allocation", addAllocation));
  return table;
}

Status PodInventory::addCluster(const v1::ClusterInfo& message) {
  POP_ASSIGN_OR_RETURN(vipu::Cluster cluster, clusterOf(message));
  v1::ClusterRecord record;
  *record.mutable_info() = messageOf(cluster);
  POP_RETURN_IF_ERROR(table().addCluster(std::move(cluster)));
  put(RecordKind::kCluster, message.id(), record.SerializeAsString());
  return {};
}

Status PodInventory::addAgent(const v1::AgentInfo& message) {
  POP_RETURN_IF_ERROR(checkPlace(message));
  POP_RETURN_IF_ERROR(table().addAgent(agentOf(message)));
  saveAgent(message.id());
  return {};
}

Status PodInventory::setAllocation(const v1::AllocationInfo& message, bool replace) {
  if (!replace && inventory().allocation(message.id()) != nullptr)
    return {Code::kAlreadyExists, "allocation " + inQuotes(message.id()) +
                                      " exists already: set `replace` to change it, or use another name"};
  const vipu::Allocation allocation = allocationOf(message);
  const auto empty = std::find(allocation.users.begin(), allocation.users.end(), "");
  if (empty != allocation.users.end())
    return invalidArgument("allocation " + inQuotes(message.id()) + ": a user without a name (users)");
  v1::AllocationRecord record;
  *record.mutable_info() = messageOf(allocation);
  POP_RETURN_IF_ERROR(table().setAllocation(allocation));
  put(RecordKind::kAllocation, message.id(), record.SerializeAsString());
  return {};
}

Status PodInventory::removeCluster(const std::string& id) {
  return drop(RecordKind::kCluster, id, table().removeCluster(id));
}

Status PodInventory::removeAgent(const std::string& id) {
  POP_RETURN_IF_ERROR(drop(RecordKind::kAgent, id, table().removeAgent(id)));
  drained_by_.erase(id);
  return {};
}

Status PodInventory::removeAllocation(const std::string& id) {
  return drop(RecordKind::kAllocation, id, table().removeAllocation(id));
}

Status PodInventory::drain(const std::string& agent, const std::string& reason, const std::string& by) {
  POP_RETURN_IF_ERROR(table().drain(agent, bounded(printable(reason))));
  drained_by_[agent] = by;
  saveAgent(agent);
  return {};
}

Status PodInventory::resume(const std::string& agent) {
  POP_RETURN_IF_ERROR(table().resume(agent));
  drained_by_.erase(agent);
  saveAgent(agent);
  return {};
}

v1::ClusterInfo PodInventory::showCluster(const std::string& id) const {
  v1::ClusterInfo info = messageOf(*inventory().cluster(id));
  int agents = 0;
  for (const auto& [agent_id, agent] : inventory().agents()) agents += agent.cluster == id ? 1 : 0;
  info.set_num_agents(agents);
  return info;
}

v1::AgentInfo PodInventory::showAgent(const std::string& id) const {
  const vipu::Agent& agent = *inventory().agent(id);
  v1::AgentInfo info = messageOf(agent);
  if (const auto by = drained_by_.find(id); by != drained_by_.end()) info.set_drained_by(by->second);
  if (const vipu::Allocation* const allocation = inventory().allocationOf(agent))
    info.set_allocation(allocation->id);
  return info;
}

v1::AllocationInfo PodInventory::showAllocation(const std::string& id) const {
  v1::AllocationInfo info = messageOf(*inventory().allocation(id));
  if (const auto capacity = partitions_.table().capacityOf(id); capacity.ok())
    *info.mutable_capacity() = messageOf(capacity.value());
  return info;
}

void PodInventory::saveAgent(const std::string& id) {
  v1::AgentRecord record;
  *record.mutable_info() = showAgent(id);
  record.mutable_info()->clear_lost();
  record.mutable_info()->clear_allocation();
  put(RecordKind::kAgent, id, record.SerializeAsString());
}

void PodInventory::put(RecordKind kind, const std::string& id, const std::string& bytes) {
  commits_.wrote(store_.putRecord(kind, id, bytes));
  partitions_.inventoryChanged();
}

Status PodInventory::drop(RecordKind kind, const std::string& id, const Status& removed) {
  if (!removed.ok()) return removed;
  commits_.wrote(store_.removeRecord(kind, id));
  partitions_.inventoryChanged();
  return {};
}

}  // namespace pop::popdistd
