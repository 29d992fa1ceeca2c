// SPDX-License-Identifier: Apache-2.0
// Identities over gRPC without a certificate: tokens, V-IPU's keys, and users of this machine by a local
// socket.
#include <gmock/gmock.h>
#include <grpcpp/create_channel_posix.h>

#include "common/sys/unix_socket.h"
#include "proto/virmgrpc/vipuuser.grpc.pb.h"
#include "tests/unit/popdistd/rpc/rpc_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Metadata = std::vector<std::pair<std::string, std::string>>;

class CredentialsTest : public RpcTest {
 protected:
  // Knows the authority, and shows nothing.
  std::shared_ptr<grpc::Channel> withoutCertificate() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(place, grpc::SslCredentials({pairs.authority.certificate_pem, "", ""}),
                                     arguments);
  }
  static grpc::Status about(const std::shared_ptr<grpc::Channel>& channel, const Metadata& said = {},
                            v1::AboutReply* reply = nullptr) {
    grpc::ClientContext context;
    setDeadline(context, std::chrono::seconds(10));
    for (const auto& [name, value] : said) context.AddMetadata(name, value);
    v1::AboutReply about;
    return v1::Controller::NewStub(channel)->About(&context, {}, reply == nullptr ? &about : reply);
  }
  std::string addToken(const std::string& user, v1::Role scope) {
    const std::string token = makeToken([] { return sys::randomName(); });
    v1::TokenRecord record;
    record.set_digest(digestOfSecret(token));
    record.mutable_info()->set_id(tokenId(record.digest()));
    record.mutable_info()->set_user(user);
    record.mutable_info()->set_scope(scope);
    record.mutable_info()->mutable_expires()->set_seconds(std::time(nullptr) + 3600);
    accounts.setToken(record);
    return token;
  }
  std::shared_ptr<grpc::Channel> local(const std::string& user) {
    auto [mine, theirs] = std::move(sys::socketPair().value());
    const Status added = loop.run([&, served = std::make_shared<sys::Fd>(std::move(theirs))] {
      return server->addLocal(std::move(*served), user);
    });
    EXPECT_TRUE(added.ok()) << added.message();
    EXPECT_TRUE(sys::setNonBlocking(mine.get()).ok());
    return grpc::CreateInsecureChannelFromFd("local", mine.release());
  }
  std::vector<std::string> calls() {
    return loop.run([this] { return api.calls; });
  }
};

TEST_F(CredentialsTest, WhoShowsNothingOverTlsIsNobody) {
  serveWithTls();
  const grpc::Status status = about(withoutCertificate());
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(status.error_message(), HasSubstr("nothing says who you are"));
  EXPECT_THAT(calls(), IsEmpty());
  const auto stub = v1::Hosts::NewStub(withoutCertificate());
  grpc::ClientContext context;
  setDeadline(context, std::chrono::seconds(10));
  const auto stream = stub->Join(&context);
  v1::HostReport report;
  report.mutable_joins()->set_name("h0");
  stream->Write(report);
  v1::HostOrder order;
  EXPECT_FALSE(stream->Read(&order));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(loop.run([this] { return gate.events; }), IsEmpty());
}

TEST_F(CredentialsTest, ATokenIsItsUser) {
  serveWithTls();
  const std::string token = addToken("alice", v1::ROLE_VIEWER);
  EXPECT_TRUE(about(withoutCertificate(), {{"authorization", "Bearer " + token}}).ok());
  EXPECT_TRUE(about(channel(userPair("bob")), {{"authorization", "bearer " + token}}).ok());
  EXPECT_THAT(calls(), ElementsAre("alice about", "alice about"));
  EXPECT_EQ(about(channel(userPair("bob")), {{"authorization", "Bearer pop_"}}).error_code(),
            grpc::StatusCode::UNAUTHENTICATED)
      << "a wrong one is not made good by a certificate";
}

TEST_F(CredentialsTest, VipusClientsAreKnownByTheirKeys) {
  serveWithTls();
  v1::UserRecord alice;
  alice.mutable_info()->set_name("alice");
  alice.mutable_info()->set_role(v1::ROLE_SUBMIT);
  alice.set_vipu_key_digest(digestOfSecret("key"));
  accounts.setUser(alice);
  const auto list = [&](const std::string& key) {
    grpc::ClientContext context;
    setDeadline(context, std::chrono::seconds(10));
    context.AddMetadata("api-user-id", "alice");
    context.AddMetadata("api-access-key", key);
    virmgrpc::ListPartitionsReply reply;
    return virmgrpc::UserService::NewStub(withoutCertificate())
        ->ListPartitions(&context, {}, &reply)
        .error_code();
  };
  EXPECT_EQ(list("key"), grpc::StatusCode::OK);
  EXPECT_EQ(list("another"), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(loop.run([this] { return vipu.calls; }), ElementsAre("alice listPartitions"));
}

TEST_F(CredentialsTest, ManyWrongOnesSlowDownNobodyElse) {
  serveWithTls();
  const auto wrong = withoutCertificate();
  for (int i = 0; i < 20; ++i) about(wrong, {{"authorization", "Bearer x"}});
  EXPECT_EQ(about(wrong, {{"authorization", "Bearer x"}}).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const std::string token = addToken("alice", v1::ROLE_VIEWER);
  EXPECT_TRUE(about(wrong, {{"authorization", "Bearer " + token}}).ok());
}

TEST_F(CredentialsTest, EachUserOfThisMachineHasAServer) {
  serve();
  const auto alice = local("alice");
  const auto bob = local("bob");
  const auto alice_again = local("alice");
  EXPECT_TRUE(about(alice).ok());
  EXPECT_TRUE(about(bob).ok());
  EXPECT_TRUE(about(alice_again).ok());
  EXPECT_TRUE(about(alice).ok());
  EXPECT_THAT(calls(), ElementsAre("alice about", "bob about", "alice about", "alice about"));
}

TEST_F(CredentialsTest, ADescriptorsNumberThatIsUsedAgainMakesNobodyAnother) {
  serve();
  for (int round = 0; round < 20; ++round) {
    EXPECT_TRUE(about(local("alice")).ok());
    EXPECT_TRUE(about(local("bob")).ok());
  }
  std::vector<std::string> expected;
  for (int round = 0; round < 20; ++round) expected.insert(expected.end(), {"alice about", "bob about"});
  EXPECT_EQ(calls(), expected);
}

TEST_F(CredentialsTest, HostsDoNotJoinByTheLocalSocket) {
  serve();
  const auto stub = v1::Hosts::NewStub(local("alice"));
  grpc::ClientContext context;
  setDeadline(context, std::chrono::seconds(10));
  const auto stream = stub->Join(&context);
  v1::HostOrder order;
  EXPECT_FALSE(stream->Read(&order));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(loop.run([this] { return gate.events; }), IsEmpty());
}

TEST_F(CredentialsTest, AUserHasABoundedNumberOfConnections) {
  serve();
  std::vector<std::shared_ptr<grpc::Channel>> open;
  for (int i = 0; i < 256; ++i) open.push_back(local("alice"));
  auto [mine, theirs] = std::move(sys::socketPair().value());
  const auto added = loop.run([&, served = std::make_shared<sys::Fd>(std::move(theirs))] {
    return server->addLocal(std::move(*served), "alice");
  });
  EXPECT_EQ(added.code(), Code::kResourceExhausted);
  EXPECT_TRUE(about(local("bob")).ok());
  EXPECT_TRUE(about(open.back()).ok());
}

}  // namespace
}  // namespace pop::popdistd
