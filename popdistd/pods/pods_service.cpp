// SPDX-License-Identifier: Apache-2.0
#include "popdistd/pods/pods_service.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "popdistd/api/page_room.h"
#include "popdistd/pods/holder_id.h"

namespace pop::popdistd {

using vipu::PartitionState;

template <typename T>
void PodsService::answer(const Status& done, Reply<T> reply, std::function<T()> show) {
  if (!done.ok()) return reply(done);
  T shown = show();
  parts_.commits.whenDurable(
      [reply = std::move(reply), shown = std::move(shown)](const Status& status) mutable {
        status.ok() ? reply(std::move(shown)) : reply(status);
      });
}

void PodsService::answer(const Status& done, Reply<v1::Nothing> reply) {
  answer<v1::Nothing>(done, std::move(reply), [] { return v1::Nothing(); });
}

Status PodsService::byManager(const Caller& caller, const std::string& what,
                              const std::function<Status()>& act) {
  POP_RETURN_IF_ERROR(PodAccess::checkManages(caller, what));
  return act();
}

// ---- clusters

void PodsService::createCluster(const Caller& caller, v1::ClusterInfo cluster, Reply<v1::ClusterInfo> reply) {
  const Status done =
      byManager(caller, "create clusters", [&] { return parts_.inventory.addCluster(cluster); });
  answer<v1::ClusterInfo>(done, std::move(reply), [&] { return parts_.inventory.showCluster(cluster.id()); });
}

void PodsService::removeCluster(const Caller& caller, v1::ClusterRef cluster, Reply<v1::Nothing> reply) {
  answer(byManager(caller, "remove clusters", [&] { return parts_.inventory.removeCluster(cluster.id()); }),
         std::move(reply));
}

bool PodsService::seesCluster(const Caller& caller, const std::string& cluster) {
  const auto& allocations = table().inventory().allocations();
  return PodAccess::isAdmin(caller) ||
         std::any_of(allocations.begin(), allocations.end(), [&](const auto& each) {
           return each.second.cluster == cluster && PodAccess::mayUse(caller, each.second);
         });
}

void PodsService::listClusters(const Caller& caller, v1::ListClustersRequest,
                               Reply<v1::ListClustersReply> reply) {
  v1::ListClustersReply list;
  for (const auto& [id, cluster] : table().inventory().clusters()) {
    if (seesCluster(caller, id)) *list.add_clusters() = parts_.inventory.showCluster(id);
  }
  reply(std::move(list));
}

// ---- agents

void PodsService::createAgent(const Caller& caller, v1::AgentInfo agent, Reply<v1::AgentInfo> reply) {
  const Status done = byManager(caller, "create agents", [&] { return parts_.inventory.addAgent(agent); });
  answer<v1::AgentInfo>(done, std::move(reply), [&] { return parts_.inventory.showAgent(agent.id()); });
}

void PodsService::removeAgent(const Caller& caller, v1::AgentRef agent, Reply<v1::Nothing> reply) {
  answer(byManager(caller, "remove agents", [&] { return parts_.inventory.removeAgent(agent.id()); }),
         std::move(reply));
}

void PodsService::listAgents(const Caller& caller, v1::ListAgentsRequest request,
                             Reply<v1::ListAgentsReply> reply) {
  const vipu::Inventory& inventory = table().inventory();
  const bool is_known = request.cluster().empty() || (inventory.cluster(request.cluster()) != nullptr &&
                                                      seesCluster(caller, request.cluster()));
  if (!is_known) return reply(Status(Code::kNotFound, "there is no cluster " + inQuotes(request.cluster())));
  v1::ListAgentsReply list;
  for (const auto& [id, agent] : inventory.agents()) {
    if (!request.cluster().empty() && agent.cluster != request.cluster()) continue;
    const vipu::Allocation* const allocation = inventory.allocationOf(agent);
    const bool is_seen =
        PodAccess::isAdmin(caller) || (allocation != nullptr && PodAccess::mayUse(caller, *allocation));
    if (is_seen) *list.add_agents() = parts_.inventory.showAgent(id);
  }
  reply(std::move(list));
}

void PodsService::drainAgent(const Caller& caller, v1::DrainAgentRequest request,
                             Reply<v1::AgentInfo> reply) {
  const std::string& id = request.agent().id();
  const Status done = byManager(caller, "drain agents", [&]() -> Status {
    if (request.reason().empty())
      return invalidArgument("reason is empty: say why the agent is drained, for those who wait for IPUs");
    return parts_.inventory.drain(id, request.reason(), caller.user);
  });
  answer<v1::AgentInfo>(done, std::move(reply), [&] { return parts_.inventory.showAgent(id); });
}

void PodsService::resumeAgent(const Caller& caller, v1::AgentRef agent, Reply<v1::AgentInfo> reply) {
  const Status done = byManager(caller, "resume agents", [&] { return parts_.inventory.resume(agent.id()); });
  answer<v1::AgentInfo>(done, std::move(reply), [&] { return parts_.inventory.showAgent(agent.id()); });
}

// ---- allocations

void PodsService::createAllocation(const Caller& caller, v1::CreateAllocationRequest request,
                                   Reply<v1::AllocationInfo> reply) {
  const Status done = byManager(caller, "create allocations", [&] {
    return parts_.inventory.setAllocation(request.allocation(), request.replace());
  });
  answer<v1::AllocationInfo>(done, std::move(reply),
                             [&] { return parts_.inventory.showAllocation(request.allocation().id()); });
}

void PodsService::removeAllocation(const Caller& caller, v1::AllocationRef allocation,
                                   Reply<v1::Nothing> reply) {
  // It would bind a later allocation of the same name.
  const auto remove = [&]() -> Status {
    if (parts_.has_quota && parts_.has_quota(allocation.id()))
      return failedPrecondition("allocation " + inQuotes(allocation.id()) +
                                " has a quota: remove that first (popctl remove quota --allocation)");
    return parts_.inventory.removeAllocation(allocation.id());
  };
  answer(byManager(caller, "remove allocations", remove), std::move(reply));
}

void PodsService::listAllocations(const Caller& caller, v1::ListAllocationsRequest,
                                  Reply<v1::ListAllocationsReply> reply) {
  v1::ListAllocationsReply list;
  for (const auto& [id, allocation] : table().inventory().allocations()) {
    if (PodAccess::mayUse(caller, allocation)) *list.add_allocations() = parts_.inventory.showAllocation(id);
  }
  reply(std::move(list));
}

// ---- partitions

void PodsService::listPartitions(const Caller& caller, v1::ListPodPartitionsRequest request,
                                 Reply<v1::ListPodPartitionsReply> reply) {
  if (const Status fits = checkPageSize(request.page_size()); !fits.ok()) return reply(fits);
  const auto partitions = table().list(request.allocation(), PodAccess::inTable(caller));
  if (!partitions.ok()) return reply(partitions.status());
  v1::ListPodPartitionsReply list;
  PageRoom room(request.page_size());
  for (const vipu::Partition* const each : partitions.value()) {
    const bool is_before = !request.page_token().empty() && each->id <= request.page_token();
    if (is_before || (!request.owner().empty() && each->owner != request.owner())) continue;
    if (room.isFull()) {
      list.set_next_page_token(list.partitions().rbegin()->id());
      break;
    }
    v1::PartitionInfo info = parts_.partitions.show(*each);
    room.take(info.ByteSizeLong());
    *list.add_partitions() = std::move(info);
  }
  list.set_revision(parts_.revisions.current());
  reply(std::move(list));
}

void PodsService::releasePartition(const Caller& caller, v1::ReleasePartitionRequest request,
                                   Reply<v1::Nothing> reply) {
  answer(byManager(caller, "release partitions", [&] { return release(caller, request); }), std::move(reply));
}

// A job that goes on holds what it has: it is cancelled first.
Status PodsService::release(const Caller& caller, const v1::ReleasePartitionRequest& request) {
  const std::string& id = request.partition();
  POP_ASSIGN_OR_RETURN(const vipu::Partition* const partition, PodAccess::partitionFor(caller, id, table()));
  const std::string name = "partition " + inQuotes(id);
  if (partition->state != PartitionState::kRemoving && partition->state != PartitionState::kQuarantine)
    return failedPrecondition(name + " is " + stateText(*partition) + ": remove it instead");
  const auto job = jobOf(partition->job);
  if (job && !parts_.is_over(*job))
    return failedPrecondition(name + " is held by job " + std::to_string(*job) +
                              ", which has not ended: cancel it instead");
  if (!request.force() && !partition->job.empty())
    return failedPrecondition(name + " is held by " + holderText(partition->job) +
                              ", of which it is not known whether it has ended everywhere: make sure that it "
                              "has, then use force");
  if (!request.force()) return parts_.partitions.keep(table().released(id, parts_.partitions.now()));
  if (request.reason().empty())
    return invalidArgument("reason is empty: say for the log how you know that nothing uses " + name);
  vipu::Change change;
  if (partition->state == PartitionState::kRemoving) {
    POP_ASSIGN_OR_RETURN(change, table().notReleased(id, "released with force", parts_.partitions.now()));
  }
  const Result<vipu::Change> forced = table().forceRelease(id, parts_.partitions.now());
  if (forced.ok()) change.insert(change.end(), forced.value().begin(), forced.value().end());
  POP_RETURN_IF_ERROR(parts_.partitions.keep(std::as_const(change)));
  if (parts_.audit)
    parts_.audit("user " + inQuotes(caller.user) + " at " + printable(caller.peer) + " has released " + name +
                 " with force" + (job ? ", held by job " + std::to_string(*job) : "") + ": " +
                 printable(request.reason()));
  return {};
}

Result<std::unique_ptr<Source<v1::HoldReply>>> PodsService::holdPartition(const Caller& caller,
                                                                          const v1::HoldRequest& request,
                                                                          Api::Ready ready) {
  return parts_.holds.hold(caller, request, std::move(ready));
}

}  // namespace pop::popdistd
