// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/grpc_pods.h"

#include <utility>

#include "popdistd/rpc/service_calls.h"
#include "proto/popdist/v1/pods.grpc.pb.h"

namespace pop::popdistd {
namespace {

class GrpcPods final : public v1::Pods::CallbackService, private ServiceCalls<PodsApi> {
 public:
  using ServiceCalls::ServiceCalls;

  Unary* CreateCluster(Context* c, const v1::ClusterInfo* q, v1::ClusterInfo* a) override {
    return unary(c, q, a, &PodsApi::createCluster);
  }
  Unary* RemoveCluster(Context* c, const v1::ClusterRef* q, v1::Nothing* a) override {
    return unary(c, q, a, &PodsApi::removeCluster);
  }
  Unary* ListClusters(Context* c, const v1::ListClustersRequest* q, v1::ListClustersReply* a) override {
    return unary(c, q, a, &PodsApi::listClusters);
  }
  Unary* CreateAgent(Context* c, const v1::AgentInfo* q, v1::AgentInfo* a) override {
    return unary(c, q, a, &PodsApi::createAgent);
  }
  Unary* RemoveAgent(Context* c, const v1::AgentRef* q, v1::Nothing* a) override {
    return unary(c, q, a, &PodsApi::removeAgent);
  }
  Unary* ListAgents(Context* c, const v1::ListAgentsRequest* q, v1::ListAgentsReply* a) override {
    return unary(c, q, a, &PodsApi::listAgents);
  }
  Unary* DrainAgent(Context* c, const v1::DrainAgentRequest* q, v1::AgentInfo* a) override {
    return unary(c, q, a, &PodsApi::drainAgent);
  }
  Unary* ResumeAgent(Context* c, const v1::AgentRef* q, v1::AgentInfo* a) override {
    return unary(c, q, a, &PodsApi::resumeAgent);
  }
  Unary* CreateAllocation(Context* c, const v1::CreateAllocationRequest* q, v1::AllocationInfo* a) override {
    return unary(c, q, a, &PodsApi::createAllocation);
  }
  Unary* RemoveAllocation(Context* c, const v1::AllocationRef* q, v1::Nothing* a) override {
    return unary(c, q, a, &PodsApi::removeAllocation);
  }
  Unary* ListAllocations(Context* c, const v1::ListAllocationsRequest* q,
                         v1::ListAllocationsReply* a) override {
    return unary(c, q, a, &PodsApi::listAllocations);
  }
  Unary* ListPartitions(Context* c, const v1::ListPodPartitionsRequest* q,
                        v1::ListPodPartitionsReply* a) override {
    return unary(c, q, a, &PodsApi::listPartitions);
  }
  Unary* ReleasePartition(Context* c, const v1::ReleasePartitionRequest* q, v1::Nothing* a) override {
    return unary(c, q, a, &PodsApi::releasePartition);
  }

  grpc::ServerWriteReactor<v1::HoldReply>* HoldPartition(Context* context,
                                                         const v1::HoldRequest* request) override {
    return stream(context, request, &PodsApi::holdPartition);
  }
};

}  // namespace

std::unique_ptr<grpc::Service> makePodsService(std::shared_ptr<Calls> calls, PodsApi& pods,
                                               std::shared_ptr<const CallersOf> callers) {
  return std::make_unique<GrpcPods>(std::move(calls), pods, std::move(callers));
}

}  // namespace pop::popdistd
