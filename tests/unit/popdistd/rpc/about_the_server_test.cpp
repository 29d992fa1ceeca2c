// SPDX-License-Identifier: Apache-2.0
// Generic tools' questions to any gRPC server: health and reflection. Their messages are written by hand,
// since Debian has no header of them.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>

#include "popdistd/rpc/no_leader_server.h"
#include "tests/unit/popdistd/rpc/rpc_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class AboutTheServer : public RpcTest {
 protected:
  // One message there and one back.
  std::string ask(const std::string& method, const std::string& message) {
    grpc::GenericStub stub(channel());
    grpc::ClientContext context;
    setDeadline(context, std::chrono::seconds(10));
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareCall(&context, method, &queue);
    const auto next = [&queue] {
      void* tag = nullptr;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    };
    call->StartCall(nullptr);
    if (!next()) return "no call";
    const grpc::Slice slice(message);
    call->WriteLast(grpc::ByteBuffer(&slice, 1), {}, nullptr);
    if (!next()) return "no request";
    grpc::ByteBuffer answer;
    call->Read(&answer, nullptr);
    if (!next()) return "no answer";
    grpc::Slice whole;
    if (!answer.DumpToSingleSlice(&whole).ok()) return "no bytes";
    grpc::Status status;
    call->Finish(&status, nullptr);
    next();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return {reinterpret_cast<const char*>(whole.begin()), whole.size()};
  }
};

constexpr const char* kReflection = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

TEST_F(AboutTheServer, IsToldToThoseWhoShowACertificate) {
  serveWithTls();
  const auto status = [&](const std::shared_ptr<grpc::Channel>& channel) {
    grpc::GenericStub stub(channel);
    grpc::ClientContext context;
    setDeadline(context, std::chrono::seconds(10));
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareCall(&context, kReflection, &queue);
    void* tag = nullptr;
    bool ok = false;
    call->StartCall(nullptr);
    queue.Next(&tag, &ok);
    grpc::Status how;
    call->WritesDone(nullptr);
    queue.Next(&tag, &ok);
    call->Finish(&how, nullptr);
    queue.Next(&tag, &ok);
    return how.error_code();
  };
  EXPECT_EQ(status(channel(userPair("alice"))), grpc::StatusCode::OK);
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  EXPECT_EQ(status(grpc::CreateCustomChannel(
                place, grpc::SslCredentials({.pem_root_certs = pairs.authority.certificate_pem}), arguments)),
            grpc::StatusCode::UNAUTHENTICATED);
}

// A client that kept its connection would hear the refusal for ever, also when there is a leader.
TEST(NoLeaderServerTest, EndsItsConnectionsSoThatClientsLookAgain) {
  const auto server = NoLeaderServer::start({}).value();
  server->setReason("nobody leads");
  const auto channel =
      grpc::CreateChannel("127.0.0.1:" + std::to_string(server->port()), grpc::InsecureChannelCredentials());
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  v1::AboutReply about;
  const grpc::Status status = v1::Controller::NewStub(channel)->About(&context, {}, &about);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "nobody leads");
  EXPECT_TRUE(channel->WaitForStateChange(GRPC_CHANNEL_READY,
                                          std::chrono::system_clock::now() + std::chrono::seconds(10)));
}

TEST_F(AboutTheServer, IsItsHealth) {
  serve();
  EXPECT_EQ(ask("/grpc.health.v1.Health/Check", ""), "\x08\x01") << "SERVING";
}

TEST_F(AboutTheServer, AreItsServicesAndMessages) {
  serve();
  const std::string method = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  EXPECT_THAT(
      ask(method, "\x3a\x01*"),
      AllOf(HasSubstr("popdist.v1.Controller"), HasSubstr("popdist.v1.Hosts"), HasSubstr("popdist.v1.Pods"),
            HasSubstr("virmgrpc.UserService"), HasSubstr("virmgrpc.VersionService")));
  const auto fileOf = [&](const std::string& symbol) {
    return ask(method, "\x22" + std::string(1, static_cast<char>(symbol.size())) + symbol);
  };
  EXPECT_THAT(fileOf("popdist.v1.JobInfo"),
              AllOf(HasSubstr("last_sequence"), HasSubstr("google/protobuf/timestamp.proto")));
  EXPECT_THAT(fileOf("popdist.v1.Pods"), HasSubstr("HoldPartition"));
  EXPECT_THAT(fileOf("virmgrpc.PartitionConfig"), HasSubstr("gcd_configs"));
  EXPECT_THAT(fileOf("virmgrpc.VersionService"), HasSubstr("GetVersion"));
}

TEST_F(AboutTheServer, IsWhyItCannotListen) {
  serve();
  const auto second = loop.run([this] {
    return RpcServer::start(loop.loop(), served(),
                            {.address = "127.0.0.1", .port = server->port(), .identify = identify()});
  });
  EXPECT_THAT(second.status().message(), HasSubstr("in use"));
}

}  // namespace
}  // namespace pop::popdistd
