// SPDX-License-Identifier: Apache-2.0
// Certificates: who is who over gRPC, and who may do what.
#include <gmock/gmock.h>

#include "tests/unit/popdistd/rpc/rpc_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WhoMay : public RpcTest {
 protected:
  WhoMay() { serveWithTls(); }

  grpc::Status asks(const std::optional<tls::KeyPair>& pair) const {
    grpc::ClientContext context;
    setDeadline(context, std::chrono::seconds(5));
    v1::AboutReply about;
    return controller(pair)->About(&context, {}, &about);
  }

  grpc::Status joins(const tls::KeyPair& pair, const std::string& name) const {
    const auto stub = hosts(pair);
    grpc::ClientContext context;
    setDeadline(context, std::chrono::seconds(5));
    const auto stream = stub->Join(&context);
    v1::HostReport report;
    report.mutable_joins()->set_name(name);
    stream->Write(report);
    stream->WritesDone();
    v1::HostOrder order;
    while (stream->Read(&order)) {
    }
    return stream->Finish();
  }

  std::vector<std::string> calls() {
    return loop.run([this] { return api.calls; });
  }
  std::vector<std::string> events() {
    return loop.run([this] { return gate.events; });
  }
};

TEST_F(WhoMay, AskIsAUserByTheNameInTheCertificate) {
  EXPECT_TRUE(asks(userPair("alice")).ok());
  EXPECT_TRUE(asks(userPair("bob@example.org")).ok());
  EXPECT_THAT(calls(), ElementsAre("alice about", "bob@example.org about"));
}

TEST_F(WhoMay, AskIsNotAHost) {
  const grpc::Status status = asks(hostPair({"h0"}));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), HasSubstr("names no user"));
  const auto stub = controller(hostPair({"h0"}));
  grpc::ClientContext context;
  v1::Change change;
  const auto reader = stub->Watch(&context, {});
  EXPECT_FALSE(reader->Read(&change));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(WhoMay, JoinIsAHostByEachOfItsNames) {
  const tls::KeyPair host = hostPair({"h0", "h0.example", "10.0.0.7"});
  EXPECT_EQ(joins(host, "h0").error_code(), grpc::StatusCode::UNAVAILABLE) << "it has ended its stream";
  EXPECT_EQ(joins(host, "H0.example").error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(joins(host, "10.0.0.7").error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(events().size(), 6U);
}

TEST_F(WhoMay, JoinIsNoOtherHostAndNoUser) {
  const tls::KeyPair host = hostPair({"h0", "10.0.0.7"});
  for (const std::string name : {"h1", "h0.example", "", "10.0.0.70"}) {
    const grpc::Status status = joins(host, name);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << name;
    EXPECT_THAT(status.error_message(), HasSubstr("it names h0, 10.0.0.7"));
  }
  EXPECT_THAT(joins(userPair("h0"), "h0").error_message(), HasSubstr("a user's certificate"));
  EXPECT_THAT(events(), IsEmpty());
}

TEST_F(WhoMay, NotAnybodyWithoutACertificateOfTheAuthority) {
  EXPECT_EQ(asks({}).error_code(), grpc::StatusCode::UNAVAILABLE);
  const testing::TestPairs others;
  const tls::KeyPair of_another_authority = tls::makeUserCertificate(others.authority, "alice", 10).value();
  EXPECT_EQ(asks(of_another_authority).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(WhoMay, FollowsNewCertificatesWithoutEndingConnections) {
  const auto old_stub = controller(userPair("alice"));
  grpc::ClientContext watch_context;
  const auto reader = old_stub->Watch(&watch_context, {});
  ASSERT_TRUE(loop.until([this] { return api.changes.readers().size() == 1; }));
  const testing::TestPairs others;
  loop.run([&] {
    server->setTls(others.filesOf(tls::makeHostCertificate(others.authority, {"127.0.0.1"}, 10).value()));
  });
  EXPECT_EQ(asks(userPair("alice")).error_code(), grpc::StatusCode::UNAVAILABLE);
  pairs = others;
  EXPECT_TRUE(asks(userPair("carol")).ok());
  loop.run([this] { api.changes.push(changeOf(1)); });
  v1::Change change;
  EXPECT_TRUE(reader->Read(&change));
  watch_context.TryCancel();
}

}  // namespace
}  // namespace pop::popdistd
