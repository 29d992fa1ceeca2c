// SPDX-License-Identifier: Apache-2.0
// Clients of V-IPU: what arrives, what comes back, and who they are.
#include <gmock/gmock.h>

#include <vector>

#include "proto/virmgrpc/version.grpc.pb.h"
#include "proto/virmgrpc/vipuuser.grpc.pb.h"
#include "tests/unit/popdistd/rpc/rpc_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class VipuServicesTest : public RpcTest {
 protected:
  grpc::Status version(const std::optional<tls::KeyPair>& pair = {}, const std::string& user_id = {}) const {
    const auto stub = virmgrpc::VersionService::NewStub(channel(pair));
    grpc::ClientContext context;
    setDeadline(context, std::chrono::seconds(10));
    if (!user_id.empty()) context.AddMetadata("api-user-id", user_id);
    virmgrpc::VersionReply reply;
    grpc::Status status = stub->GetVersion(&context, {}, &reply);
    EXPECT_EQ(reply.version(), status.ok() ? "1.2.3" : "");
    return status;
  }
  std::vector<std::string> calls() {
    return loop.run([this] { return vipu.calls; });
  }
};

TEST_F(VipuServicesTest, CarryEachMethod) {
  serve();
  const auto client = virmgrpc::UserService::NewStub(channel());
  const auto call = [&](auto method, const auto& request, auto answer) {
    grpc::ClientContext context;
    setDeadline(context, std::chrono::seconds(10));
    const grpc::Status status = (client.get()->*method)(&context, request, &answer);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return answer;
  };
  // A request that names the partition.
  const auto named = [](auto request) {
    request.set_partition_id("p16");
    return request;
  };
  using Stub = virmgrpc::UserService::Stub;
  virmgrpc::CreatePartitionRequest create;
  create.mutable_requirements()->set_id("p16");
  EXPECT_EQ(call(&Stub::CreatePartition, create, virmgrpc::CreatePartitionReply()).partition_id(), "p16");
  const auto list =
      call(&Stub::ListPartitions, virmgrpc::ListPartitionsRequest(), virmgrpc::ListPartitionsReply());
  EXPECT_EQ(list.partitions(0).id(), "p16");
  virmgrpc::ListIPUAttributesRequest attributes;
  attributes.add_agents("m0");
  const auto entries = call(&Stub::ListIPUAttributes, attributes, virmgrpc::ListIPUAttributesReply());
  EXPECT_EQ(entries.entries(0).agent(), "m0");
  const auto status = call(&Stub::GetPartitionStatus, named(virmgrpc::GetPartitionStatusRequest()),
                           virmgrpc::GetPartitionStatusReply());
  EXPECT_EQ(status.status().ready_state(), virmgrpc::PS_ACTIVE);
  const auto config = call(&Stub::GetPartitionIpuofConfig, named(virmgrpc::GetPartitionIpuofConfigRequest()),
                           virmgrpc::GetPartitionIpuofConfigReply());
  EXPECT_EQ(config.ipuof_config().gcd_configs(0).devices(0).ip(), "10.0.0.7");
  call(&Stub::ResetPartition, named(virmgrpc::ResetPartitionRequest()), virmgrpc::ResetPartitionReply());
  call(&Stub::RemovePartition, named(virmgrpc::RemovePartitionRequest()), virmgrpc::RemovePartitionReply());
  EXPECT_TRUE(version().ok());
  EXPECT_THAT(calls(), ElementsAre("me createPartition partition p16", "me listPartitions",
                                   "me listIpuAttributes", "me getPartitionStatus",
                                   "me getPartitionIpuofConfig", "me resetPartition partition p16",
                                   "me removePartition partition p16", "me getVersion"));
}

TEST_F(VipuServicesTest, CarryErrorsWithTheirCodes) {
  serve();
  loop.run([this] { vipu.refusal = Status(Code::kNotFound, "there is no partition 'p'"); });
  const grpc::Status status = version();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "there is no partition 'p'");
}

// The user that V-IPU's clients name is believed with the key alone.
TEST_F(VipuServicesTest, KnowUsersByTheirCertificates) {
  serveWithTls();
  EXPECT_EQ(version().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(version(hostPair({"h0"}), "alice").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(calls(), IsEmpty());
  EXPECT_FALSE(version(userPair("alice"), "bob").ok());
  EXPECT_TRUE(version(userPair("alice")).ok());
  EXPECT_THAT(calls(), ElementsAre("alice getVersion"));
}

}  // namespace
}  // namespace pop::popdistd
