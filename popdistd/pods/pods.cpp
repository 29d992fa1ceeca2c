// SPDX-License-Identifier: Apache-2.0
#include "popdistd/pods/pods.h"

#include <utility>
#include <vector>

#include "popdistd/pods/holder_id.h"

namespace pop::popdistd {

Pods::Pods(const Parts& parts)
    : hooks_(parts.hooks),
      access_(parts.hooks.is_admin),
      partitions_({parts.loop, parts.clock, parts.store, parts.commits, parts.revisions, parts.settings,
                   parts.hooks.changed}),
      inventory_(parts.store, parts.commits, partitions_),
      holds_(parts.loop, parts.commits, partitions_),
      leases_(partitions_, access_),
      service_({parts.commits, parts.revisions, partitions_, inventory_, holds_, parts.hooks.is_over,
                parts.hooks.has_quota, parts.hooks.audit}),
      vipu_({parts.commits, partitions_, holds_, parts.hooks.cancel, parts.hooks.user_of, parts.version}) {}

Status Pods::load() {
  POP_ASSIGN_OR_RETURN(std::unique_ptr<vipu::PartitionTable> table, inventory_.load());
  POP_RETURN_IF_ERROR(partitions_.load(std::move(table)));
  holds_.expect();
  return {};
}

void Pods::tick() {
  noteHosts();
  holds_.tick();
  partitions_.tick();
  removeLeftOver();
}

// Machines are emulated by the hosts that serve them.
void Pods::noteHosts() {
  vipu::PartitionTable& table = partitions_.table();
  std::vector<const vipu::Agent*> changed;
  for (const auto& [id, agent] : table.inventory().agents()) {
    if (agent.lost != (!agent.host.empty() && hooks_.is_down(agent.host))) changed.push_back(&agent);
  }
  for (const vipu::Agent* const agent : changed) {
    if (!agent->lost) {
      static_cast<void>(partitions_.keep(
          table.machineLost(agent->id, "host " + agent->host + " is down", partitions_.now())));
    } else {
      static_cast<void>(table.machineFound(agent->id));
    }
  }
  if (!changed.empty()) partitions_.inventoryChanged();
}

// Removes the partitions of jobs that are over, which another job or a program has used meanwhile.
void Pods::removeLeftOver() {
  std::vector<std::pair<std::int64_t, std::string>> left;
  for (const auto& [id, partition] : partitions_.table().partitions()) {
    const auto job = jobOf(partition.goes_with);
    if (job && partition.job.empty() && hooks_.is_over(*job)) left.emplace_back(*job, id);
  }
  for (const auto& [job, id] : left) leases_.ended(job, id);
}

Status Pods::addDefaultInventory(const std::string& host) {
  if (!partitions_.table().inventory().clusters().empty()) return {};
  v1::ClusterInfo cluster;
  cluster.set_id("pod64");
  POP_RETURN_IF_ERROR(inventory_.addCluster(cluster));
  v1::AllocationInfo allocation;
  allocation.set_id("default");
  allocation.set_cluster(cluster.id());
  for (int position = 0; position < vipu::kMaxIldMachines; ++position) {
    v1::AgentInfo agent;
    agent.set_id("m" + std::to_string(position));
    agent.set_cluster(cluster.id());
    agent.set_position(position);
    agent.set_host(host);
    agent.set_ip("127.0.0.1");
    POP_RETURN_IF_ERROR(inventory_.addAgent(agent));
    allocation.add_agents(agent.id());
  }
  return inventory_.setAllocation(allocation, false);
}

bool Pods::sees(const Caller& caller, const std::string& id) const {
  return PodAccess::partitionFor(caller, id, partitions_.table()).ok();
}

std::optional<v1::PartitionInfo> Pods::show(const std::string& id) const {
  const vipu::Partition* const partition = partitions_.table().find(id);
  return partition != nullptr ? std::optional(partitions_.show(*partition)) : std::nullopt;
}

}  // namespace pop::popdistd
