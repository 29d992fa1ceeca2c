// SPDX-License-Identifier: Apache-2.0
#include "popdistd/partitions/ipu_inventory.h"

#include <algorithm>
#include <set>

#include "common/base/text.h"

namespace pop::vipu {
namespace {

constexpr std::size_t kMaxNameBytes = 128;

bool isLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

int slotOf(int ild, int position) {
  return ild * kMaxIldMachines + position;
}

template <typename Map>
const typename Map::mapped_type* find(const Map& map, std::string_view id) {
  const auto found = map.find(id);
  return found == map.end() ? nullptr : &found->second;
}

Status unknown(std::string_view what, std::string_view id) {
  return {Code::kNotFound, "there is no " + std::string(what) + ' ' + inQuotes(id)};
}

Status exists(std::string_view what, std::string_view id) {
  return {Code::kAlreadyExists, std::string(what) + ' ' + inQuotes(id) + " exists already"};
}

Status checkRange(std::string_view what, int value, int least, int most) {
  if (value >= least && value <= most) return {};
  return invalidArgument(std::string(what) + ' ' + std::to_string(value) + " is not within " +
                         std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

Status checkName(std::string_view what, std::string_view name) {
  const auto allowed = [](char c) { return isLetterOrDigit(c) || c == '.' || c == '_' || c == '-'; };
  if (!name.empty() && name.size() <= kMaxNameBytes && isLetterOrDigit(name.front()) &&
      std::all_of(name.begin(), name.end(), allowed))
    return {};
  return invalidArgument(std::string(what) + " id " + inQuotes(name.substr(0, kMaxNameBytes)) +
                         " is not a name: use 1 to " + std::to_string(kMaxNameBytes) +
                         " letters, digits, '.', '_' and '-', a letter or digit first");
}

Status Inventory::addCluster(Cluster cluster) {
  POP_RETURN_IF_ERROR(checkName("cluster", cluster.id));
  if (clusters_.contains(cluster.id)) return exists("cluster", cluster.id);
  const std::string of = "cluster " + inQuotes(cluster.id) + ": ";
  POP_RETURN_IF_ERROR(checkRange(of + "number of IPU-Link domains", cluster.shape.ilds, 1, kMaxIlds));
  POP_RETURN_IF_ERROR(
      checkRange(of + "machines in an IPU-Link domain", cluster.shape.machines_per_ild, 1, kMaxIldMachines));
  const std::string id = cluster.id;
  clusters_.emplace(id, std::move(cluster));
  return {};
}

Status Inventory::addAgent(Agent agent) {
  POP_RETURN_IF_ERROR(checkName("agent", agent.id));
  if (agents_.contains(agent.id)) return exists("agent", agent.id);
  const Cluster* const home = cluster(agent.cluster);
  if (!home) return unknown("cluster", agent.cluster);
  const std::string of = "agent " + inQuotes(agent.id) + ": ";
  POP_RETURN_IF_ERROR(checkRange(of + "IPU-Link domain", agent.ild, 0, home->shape.ilds - 1));
  POP_RETURN_IF_ERROR(checkRange(of + "position", agent.position, 0, home->shape.machines_per_ild - 1));
  const auto [slot, is_free] =
      slots_.try_emplace({agent.cluster, slotOf(agent.ild, agent.position)}, agent.id);
  if (!is_free)
    return failedPrecondition(of + "position " + std::to_string(agent.position) + " of IPU-Link domain " +
                              std::to_string(agent.ild) + " is that of agent " + inQuotes(slot->second));
  const std::string id = agent.id;
  agents_.emplace(id, std::move(agent));
  return {};
}

Status Inventory::updateAgent(const Agent& agent) {
  const auto found = agents_.find(agent.id);
  if (found == agents_.end()) return unknown("agent", agent.id);
  Agent& known = found->second;
  if (known.cluster != agent.cluster || known.ild != agent.ild || known.position != agent.position)
    return failedPrecondition("agent " + inQuotes(agent.id) +
                              " is known at another place: remove it, then add it where it is now");
  known.host = agent.host;
  known.ip = agent.ip;
  known.gwsw_version = agent.gwsw_version;
  known.ipum_sw_version = agent.ipum_sw_version;
  return {};
}

Status Inventory::checkAllocation(const Allocation& allocation) const {
  POP_RETURN_IF_ERROR(checkName("allocation", allocation.id));
  if (!cluster(allocation.cluster)) return unknown("cluster", allocation.cluster);
  const std::string of = "allocation " + inQuotes(allocation.id) + ": agent ";
  std::set<std::string_view> seen;
  for (const std::string& id : allocation.agents) {
    const Agent* const member = agent(id);
    if (!member) return unknown("agent", id);
    if (!seen.insert(id).second) return invalidArgument(of + inQuotes(id) + " is named twice");
    if (member->cluster != allocation.cluster)
      return invalidArgument(of + inQuotes(id) + " is in cluster " + inQuotes(member->cluster) + ", not in " +
                             inQuotes(allocation.cluster));
    const std::string* const owner = find(allocation_of_, id);
    if (owner && *owner != allocation.id)
      return failedPrecondition(of + inQuotes(id) + " belongs to allocation " + inQuotes(*owner));
  }
  return {};
}

Status Inventory::setAllocation(Allocation allocation) {
  POP_RETURN_IF_ERROR(checkAllocation(allocation));
  std::erase_if(allocation_of_, [&](const auto& entry) { return entry.second == allocation.id; });
  for (const std::string& id : allocation.agents) allocation_of_[id] = allocation.id;
  updateMasks(allocation);
  allocations_.insert_or_assign(allocation.id, allocation);
  return {};
}

Status Inventory::removeCluster(std::string_view id) {
  const auto found = clusters_.find(id);
  if (found == clusters_.end()) return unknown("cluster", id);
  const auto belongs = [id](const auto& entry) { return entry.second.cluster == id; };
  const std::string what = "cluster " + inQuotes(id) + " still has ";
  if (const auto one = std::find_if(allocations_.begin(), allocations_.end(), belongs);
      one != allocations_.end())
    return failedPrecondition(what + "allocation " + inQuotes(one->first) + ": remove it first");
  if (const auto one = std::find_if(agents_.begin(), agents_.end(), belongs); one != agents_.end())
    return failedPrecondition(what + "agent " + inQuotes(one->first) + ": remove it first");
  clusters_.erase(found);
  return {};
}

Status Inventory::removeAgent(std::string_view id) {
  const auto found = agents_.find(id);
  if (found == agents_.end()) return unknown("agent", id);
  if (const std::string* const owner = find(allocation_of_, id))
    return failedPrecondition("agent " + inQuotes(id) + " belongs to allocation " + inQuotes(*owner) +
                              ": take it out of that first");
  slots_.erase({found->second.cluster, slotOf(found->second.ild, found->second.position)});
  agents_.erase(found);
  return {};
}

Status Inventory::removeAllocation(std::string_view id) {
  const auto found = allocations_.find(id);
  if (found == allocations_.end()) return unknown("allocation", id);
  std::erase_if(allocation_of_, [id](const auto& entry) { return entry.second == id; });
  masks_.erase(found->first);
  allocations_.erase(found);
  return {};
}

Status Inventory::setDrained(std::string_view agent, std::optional<std::string> reason) {
  const auto found = agents_.find(agent);
  if (found == agents_.end()) return unknown("agent", agent);
  found->second.drained = std::move(reason);
  updateMasksWith(found->second);
  return {};
}

Status Inventory::setLost(std::string_view agent, bool lost) {
  const auto found = agents_.find(agent);
  if (found == agents_.end()) return unknown("agent", agent);
  found->second.lost = lost;
  updateMasksWith(found->second);
  return {};
}

void Inventory::updateMasks(const Allocation& allocation) {
  const auto ilds = static_cast<std::size_t>(cluster(allocation.cluster)->shape.ilds);
  Masks masks{IpuMasks(ilds), IpuMasks(ilds)};
  for (const std::string& id : allocation.agents) {
    const Agent& member = *agent(id);
    masks.all[static_cast<std::size_t>(member.ild)] |= member.ipus();
    if (member.usable()) masks.usable[static_cast<std::size_t>(member.ild)] |= member.ipus();
  }
  masks_.insert_or_assign(allocation.id, std::move(masks));
}

void Inventory::updateMasksWith(const Agent& agent) {
  if (const Allocation* const owner = allocationOf(agent)) updateMasks(*owner);
}

const Cluster* Inventory::cluster(std::string_view id) const {
  return find(clusters_, id);
}

const Agent* Inventory::agent(std::string_view id) const {
  return find(agents_, id);
}

const Agent* Inventory::agentAt(std::string_view cluster, int ild, int position) const {
  const auto found = slots_.find({std::string(cluster), slotOf(ild, position)});
  return found == slots_.end() ? nullptr : agent(found->second);
}

const Allocation* Inventory::allocation(std::string_view id) const {
  return find(allocations_, id);
}

const Allocation* Inventory::allocationOf(const Agent& agent) const {
  const std::string* const id = find(allocation_of_, agent.id);
  return id ? allocation(*id) : nullptr;
}

std::vector<const Agent*> Inventory::agentsOf(const Allocation& allocation) const {
  std::vector<const Agent*> members;
  for (const std::string& id : allocation.agents) members.push_back(agent(id));
  std::sort(members.begin(), members.end(), [](const Agent* a, const Agent* b) {
    return slotOf(a->ild, a->position) < slotOf(b->ild, b->position);
  });
  return members;
}

const IpuMasks& Inventory::ipusOf(const Allocation& allocation) const {
  return masks_.find(allocation.id)->second.all;
}

const IpuMasks& Inventory::usableIpusOf(const Allocation& allocation) const {
  return masks_.find(allocation.id)->second.usable;
}

}  // namespace pop::vipu
