// SPDX-License-Identifier: Apache-2.0
// What clients can ask of the daemon about its Pods besides V-IPU's own calls (vipu_api.h), as one interface:
// gRPC and HTTP only carry it. Semantics: proto/popdist/v1/pods.proto. All of it is called on the loop's
// thread.
#pragma once

#include <memory>

#include "popdistd/api/api.h"
#include "proto/popdist/v1/pods.pb.h"

namespace pop::popdistd {

class PodsApi {
 public:
  virtual ~PodsApi() = default;

  virtual void createCluster(const Caller& caller, v1::ClusterInfo cluster, Reply<v1::ClusterInfo> reply) = 0;
  virtual void removeCluster(const Caller& caller, v1::ClusterRef cluster, Reply<v1::Nothing> reply) = 0;
  virtual void listClusters(const Caller& caller, v1::ListClustersRequest request,
                            Reply<v1::ListClustersReply> reply) = 0;
  virtual void createAgent(const Caller& caller, v1::AgentInfo agent, Reply<v1::AgentInfo> reply) = 0;
  virtual void removeAgent(const Caller& caller, v1::AgentRef agent, Reply<v1::Nothing> reply) = 0;
  virtual void listAgents(const Caller& caller, v1::ListAgentsRequest request,
                          Reply<v1::ListAgentsReply> reply) = 0;
  virtual void drainAgent(const Caller& caller, v1::DrainAgentRequest request,
                          Reply<v1::AgentInfo> reply) = 0;
  virtual void resumeAgent(const Caller& caller, v1::AgentRef agent, Reply<v1::AgentInfo> reply) = 0;
  virtual void createAllocation(const Caller& caller, v1::CreateAllocationRequest request,
                                Reply<v1::AllocationInfo> reply) = 0;
  virtual void removeAllocation(const Caller& caller, v1::AllocationRef allocation,
                                Reply<v1::Nothing> reply) = 0;
  virtual void listAllocations(const Caller& caller, v1::ListAllocationsRequest request,
                               Reply<v1::ListAllocationsReply> reply) = 0;

  virtual void listPartitions(const Caller& caller, v1::ListPodPartitionsRequest request,
                              Reply<v1::ListPodPartitionsReply> reply) = 0;
  virtual void releasePartition(const Caller& caller, v1::ReleasePartitionRequest request,
                                Reply<v1::Nothing> reply) = 0;
  /// To destroy the source lets the partition go. `ready`: see Source.
  virtual Result<std::unique_ptr<Source<v1::HoldReply>>> holdPartition(const Caller& caller,
                                                                       const v1::HoldRequest& request,
                                                                       Api::Ready ready) = 0;
};

}  // namespace pop::popdistd
