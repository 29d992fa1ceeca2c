// SPDX-License-Identifier: Apache-2.0
// PodsApi: who may, what is done, and the answer when it is durable.
#pragma once

#include <functional>

#include "popdistd/api/pods_api.h"
#include "popdistd/pods/holds.h"
#include "popdistd/pods/pod_access.h"
#include "popdistd/pods/pod_inventory.h"

namespace pop::popdistd {

class PodsService final : public PodsApi {
 public:
  struct Parts {
    Commits& commits;
    Revisions& revisions;
    Partitions& partitions;
    PodInventory& inventory;
    Holds& holds;
    std::function<bool(std::int64_t job)> is_over;  ///< it has ended, or nobody knows it
    std::function<bool(const std::string& allocation)> has_quota;
    std::function<void(const std::string&)> audit;  ///< a line for the log
  };

  explicit PodsService(Parts parts) : parts_(std::move(parts)) {}

  void createCluster(const Caller& caller, v1::ClusterInfo cluster, Reply<v1::ClusterInfo> reply) override;
  void removeCluster(const Caller& caller, v1::ClusterRef cluster, Reply<v1::Nothing> reply) override;
  void listClusters(const Caller& caller, v1::ListClustersRequest request,
                    Reply<v1::ListClustersReply> reply) override;
  void createAgent(const Caller& caller, v1::AgentInfo agent, Reply<v1::AgentInfo> reply) override;
  void removeAgent(const Caller& caller, v1::AgentRef agent, Reply<v1::Nothing> reply) override;
  void listAgents(const Caller& caller, v1::ListAgentsRequest request,
                  Reply<v1::ListAgentsReply> reply) override;
  void drainAgent(const Caller& caller, v1::DrainAgentRequest request, Reply<v1::AgentInfo> reply) override;
  void resumeAgent(const Caller& caller, v1::AgentRef agent, Reply<v1::AgentInfo> reply) override;
  void createAllocation(const Caller& caller, v1::CreateAllocationRequest request,
                        Reply<v1::AllocationInfo> reply) override;
  void removeAllocation(const Caller& caller, v1::AllocationRef allocation,
                        Reply<v1::Nothing> reply) override;
  void listAllocations(const Caller& caller, v1::ListAllocationsRequest request,
                       Reply<v1::ListAllocationsReply> reply) override;
  void listPartitions(const Caller& caller, v1::ListPodPartitionsRequest request,
                      Reply<v1::ListPodPartitionsReply> reply) override;
  void releasePartition(const Caller& caller, v1::ReleasePartitionRequest request,
                        Reply<v1::Nothing> reply) override;
  Result<std::unique_ptr<Source<v1::HoldReply>>> holdPartition(const Caller& caller,
                                                               const v1::HoldRequest& request,
                                                               Api::Ready ready) override;

 private:
  /// Answers with what `show` gives once what has been written is durable, or with the error at once.
  template <typename T>
  void answer(const Status& done, Reply<T> reply, std::function<T()> show);
  void answer(const Status& done, Reply<v1::Nothing> reply);
  /// What who manages the cluster has done to the inventory.
  static Status byManager(const Caller& caller, const std::string& what, const std::function<Status()>& act);
  Status release(const Caller& caller, const v1::ReleasePartitionRequest& request);
  bool seesCluster(const Caller& caller, const std::string& cluster);
  vipu::PartitionTable& table() { return parts_.partitions.table(); }

  const Parts parts_;
};

}  // namespace pop::popdistd
