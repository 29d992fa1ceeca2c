// SPDX-License-Identifier: Apache-2.0
// Clients of the service Pods: what arrives, what comes back, and that a stream holds as long as it lives.
#include <gmock/gmock.h>

#include <vector>

#include "proto/popdist/v1/pods.grpc.pb.h"
#include "tests/unit/popdistd/rpc/rpc_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PodsServiceTest : public RpcTest {
 protected:
  std::unique_ptr<v1::Pods::Stub> stub(const std::optional<tls::KeyPair>& pair = {}) const {
    return v1::Pods::NewStub(channel(pair));
  }
  bool hasHolders(std::size_t count) {
    return loop.until([&] { return pods.holds.readers().size() == count; });
  }
  std::vector<std::string> calls() {
    return loop.run([this] { return pods.calls; });
  }
};

TEST_F(PodsServiceTest, CarriesEachMethodWithOneAnswer) {
  serve();
  const auto client = stub();
  const auto call = [&](auto method, const auto& request, auto answer) {
    grpc::ClientContext context;
    setDeadline(context, std::chrono::seconds(10));
    const grpc::Status status = (client.get()->*method)(&context, request, &answer);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return answer;
  };
  using Stub = v1::Pods::Stub;
  v1::ClusterInfo cluster;
  cluster.set_id("c");
  EXPECT_EQ(call(&Stub::CreateCluster, cluster, v1::ClusterInfo()).id(), "c");
  call(&Stub::RemoveCluster, v1::ClusterRef(), v1::Nothing());
  EXPECT_EQ(call(&Stub::ListClusters, v1::ListClustersRequest(), v1::ListClustersReply()).clusters_size(), 1);
  v1::AgentInfo agent;
  agent.set_id("a");
  EXPECT_EQ(call(&Stub::CreateAgent, agent, v1::AgentInfo()).id(), "a");
  v1::AgentRef ref;
  ref.set_id("a");
  call(&Stub::RemoveAgent, ref, v1::Nothing());
  EXPECT_EQ(call(&Stub::ListAgents, v1::ListAgentsRequest(), v1::ListAgentsReply()).agents_size(), 1);
  v1::DrainAgentRequest drain;
  *drain.mutable_agent() = ref;
  drain.set_reason("hot");
  EXPECT_EQ(call(&Stub::DrainAgent, drain, v1::AgentInfo()).drain_reason(), "hot");
  EXPECT_EQ(call(&Stub::ResumeAgent, ref, v1::AgentInfo()).id(), "a");
  v1::CreateAllocationRequest allocation;
  allocation.mutable_allocation()->set_id("team");
  EXPECT_EQ(call(&Stub::CreateAllocation, allocation, v1::AllocationInfo()).id(), "team");
  call(&Stub::RemoveAllocation, v1::AllocationRef(), v1::Nothing());
  const auto allocations =
      call(&Stub::ListAllocations, v1::ListAllocationsRequest(), v1::ListAllocationsReply());
  EXPECT_EQ(allocations.allocations(0).capacity().free(), 64);
  const auto partitions =
      call(&Stub::ListPartitions, v1::ListPodPartitionsRequest(), v1::ListPodPartitionsReply());
  EXPECT_EQ(partitions.revision(), 12U);
  v1::ReleasePartitionRequest release;
  release.set_partition("p16");
  call(&Stub::ReleasePartition, release, v1::Nothing());
  EXPECT_THAT(calls(),
              ElementsAre("me createCluster cluster c", "me removeCluster cluster ", "me listClusters",
                          "me createAgent agent a", "me removeAgent agent a", "me listAgents",
                          "me drainAgent agent a", "me resumeAgent agent a",
                          "me createAllocation allocation team", "me removeAllocation allocation ",
                          "me listAllocations", "me listPartitions", "me releasePartition partition p16"));
}

TEST_F(PodsServiceTest, HoldsAsLongAsTheStreamLives) {
  serve();
  const auto client = stub();
  v1::HoldRequest request;
  request.set_partition("p16");
  grpc::ClientContext context;
  setDeadline(context, std::chrono::seconds(20));
  const auto stream = client->HoldPartition(&context, request);
  ASSERT_TRUE(hasHolders(1));
  loop.run([this] {
    EXPECT_EQ(pods.hold_requests.back().partition(), "p16");
    v1::HoldReply reply;
    reply.mutable_partition()->set_id("p16");
    pods.holds.push(reply);
  });
  v1::HoldReply reply;
  ASSERT_TRUE(stream->Read(&reply));
  EXPECT_EQ(reply.partition().id(), "p16");
  context.TryCancel();
  EXPECT_TRUE(hasHolders(0));
}

TEST_F(PodsServiceTest, SaysWhyAHoldHasEnded) {
  serve();
  const auto client = stub();
  grpc::ClientContext context;
  setDeadline(context, std::chrono::seconds(20));
  const auto stream = client->HoldPartition(&context, {});
  ASSERT_TRUE(hasHolders(1));
  loop.run([this] { pods.holds.end({Code::kAborted, "removed with force"}); });
  v1::HoldReply reply;
  EXPECT_FALSE(stream->Read(&reply));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(status.error_message(), "removed with force");
}

TEST_F(PodsServiceTest, KnowsUsersByTheirCertificates) {
  serveWithTls();
  const auto asks = [this](const tls::KeyPair& pair) {
    grpc::ClientContext context;
    setDeadline(context, std::chrono::seconds(10));
    v1::ListClustersReply list;
    return stub(pair)->ListClusters(&context, {}, &list);
  };
  EXPECT_TRUE(asks(userPair("alice")).ok());
  EXPECT_THAT(asks(hostPair({"h0"})).error_message(), HasSubstr("names no user"));
  EXPECT_THAT(calls(), ElementsAre("alice listClusters"));
}

}  // namespace
}  // namespace pop::popdistd
