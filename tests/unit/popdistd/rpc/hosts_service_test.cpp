// SPDX-License-Identifier: Apache-2.0
// Hosts on their streams.
#include <gmock/gmock.h>

#include <future>

#include "tests/unit/popdistd/rpc/rpc_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HostsTest : public RpcTest {
 protected:
  using Stream = std::unique_ptr<grpc::ClientReaderWriter<v1::HostReport, v1::HostOrder>>;

  static v1::HostReport joins(const std::string& name) {
    v1::HostReport report;
    report.mutable_joins()->set_name(name);
    return report;
  }
  static v1::HostReport heartbeat(std::int64_t clock_ms) {
    v1::HostReport report;
    report.mutable_heartbeat()->set_clock_ms(clock_ms);
    return report;
  }
  static v1::HostOrder order(std::int64_t job, std::size_t bytes = 0) {
    v1::HostOrder order;
    order.mutable_start()->mutable_key()->set_job(job);
    order.mutable_start()->set_spec(std::string(bytes, 'x'));
    return order;
  }
  bool hears(const std::vector<std::string>& events) {
    return loop.until([&] { return gate.events == events; });
  }
};

TEST_F(HostsTest, JoinSayAndAreTold) {
  serve();
  const auto stub = hosts();
  grpc::ClientContext context;
  const Stream stream = stub->Join(&context);
  ASSERT_TRUE(stream->Write(joins("h0")));
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(stream->Write(heartbeat(i)));
  EXPECT_TRUE(hears({"h0 joins from 127.0.0.1", "says 1", "says 2", "says 3"}));
  loop.run([this] {
    for (int i = 1; i <= 100; ++i) gate.channel->send(order(i));
  });
  v1::HostOrder got;
  for (int i = 1; i <= 100; ++i) {
    ASSERT_TRUE(stream->Read(&got));
    ASSERT_EQ(got.start().key().job(), i);
  }
  stream->WritesDone();
  EXPECT_TRUE(hears({"h0 joins from 127.0.0.1", "says 1", "says 2", "says 3", "left"}));
  EXPECT_FALSE(stream->Read(&got));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(HostsTest, AreMissedWhenTheirConnectionBreaks) {
  serve();
  {
    const auto stub = hosts();
    grpc::ClientContext context;
    const Stream stream = stub->Join(&context);
    ASSERT_TRUE(stream->Write(joins("h0")));
    EXPECT_TRUE(hears({"h0 joins from 127.0.0.1"}));
    context.TryCancel();
    stream->Finish();
  }
  EXPECT_TRUE(hears({"h0 joins from 127.0.0.1", "left"}));
}

TEST_F(HostsTest, AreSentAwayWithTheReasonAfterTheirOrders) {
  serve();
  const auto stub = hosts();
  grpc::ClientContext context;
  const Stream stream = stub->Join(&context);
  ASSERT_TRUE(stream->Write(joins("h0")));
  ASSERT_TRUE(hears({"h0 joins from 127.0.0.1"}));
  const auto kept = loop.run([this] {
    gate.channel->send(order(1));
    gate.channel->close({Code::kAborted, "another connection of h0 has come"});
    return gate.channel;
  });
  v1::HostOrder got;
  EXPECT_TRUE(stream->Read(&got));
  EXPECT_FALSE(stream->Read(&got));
  EXPECT_EQ(stream->Finish().error_message(), "another connection of h0 has come");
  kept->send(order(2));
  kept->close({});
  EXPECT_TRUE(hears({"h0 joins from 127.0.0.1"})) << "who closes it knows";
}

TEST_F(HostsTest, AreRefusedWithTheReason) {
  serve();
  loop.run([this] { gate.refusal = failedPrecondition("h0 speaks protocol 9"); });
  const auto stub = hosts();
  grpc::ClientContext context;
  const Stream stream = stub->Join(&context);
  ASSERT_TRUE(stream->Write(joins("h0")));
  v1::HostOrder got;
  EXPECT_FALSE(stream->Read(&got));
  EXPECT_EQ(stream->Finish().error_message(), "h0 speaks protocol 9");
  EXPECT_TRUE(hears({"h0 joins from 127.0.0.1"}));
}

TEST_F(HostsTest, SayFirstWhoTheyAre) {
  serve();
  const auto stub = hosts();
  grpc::ClientContext context;
  const Stream stream = stub->Join(&context);
  ASSERT_TRUE(stream->Write(heartbeat(1)));
  v1::HostOrder got;
  EXPECT_FALSE(stream->Read(&got));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(hears({}));
}

// Streams of clients without a host's certificate are over before they count.
TEST_F(HostsTest, AreShutOutByNoCrowdOfEmptyStreams) {
  serveWithTls();
  const grpc::SslCredentialsOptions none{.pem_root_certs = pairs.authority.certificate_pem};
  struct Empty {
    grpc::ClientContext context;
    Stream stream;
  };
  std::vector<std::unique_ptr<v1::Hosts::Stub>> stubs;
  std::vector<std::unique_ptr<Empty>> crowd;
  for (int i = 0; i < 6; ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stubs.push_back(v1::Hosts::NewStub(
        i % 2 == 0 ? grpc::CreateCustomChannel(place, grpc::SslCredentials(none), arguments)
                   : channel(userPair("mallory"))));
    for (int j = 0; j < 100; ++j) {
      crowd.push_back(std::make_unique<Empty>());
      crowd.back()->stream = stubs.back()->Join(&crowd.back()->context);
    }
  }
  const auto host = hosts(hostPair({"h0"}));
  grpc::ClientContext context;
  const Stream stream = host->Join(&context);
  ASSERT_TRUE(stream->Write(joins("h0")));
  EXPECT_TRUE(hears({"h0 joins from 127.0.0.1"}));
  for (const auto& each : crowd) {
    const grpc::Status status = each->stream->Finish();
    EXPECT_TRUE(status.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
                status.error_code() == grpc::StatusCode::PERMISSION_DENIED)
        << status.error_code() << status.error_message();
  }
}

TEST_F(HostsTest, HaveOneStreamAConnection) {
  serve();
  const auto stub = hosts();
  grpc::ClientContext first_context;
  const Stream first = stub->Join(&first_context);
  ASSERT_TRUE(first->Write(joins("h0")));
  ASSERT_TRUE(hears({"h0 joins from 127.0.0.1"}));
  grpc::ClientContext second_context;
  const Stream second = stub->Join(&second_context);
  EXPECT_EQ(first->Finish().error_code(), grpc::StatusCode::ABORTED);
  ASSERT_TRUE(second->Write(joins("h0")));
  EXPECT_TRUE(hears({"h0 joins from 127.0.0.1", "left", "h0 joins from 127.0.0.1"}));
}

TEST_F(HostsTest, ThatDoNotSayWhoTheyAreAreNotWaitedFor) {
  join_timeout = std::chrono::milliseconds(100);
  serve();
  const auto stub = hosts();
  grpc::ClientContext context;
  setDeadline(context, std::chrono::seconds(30));
  const Stream stream = stub->Join(&context);
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(), HasSubstr("no host has joined"));
}

TEST_F(HostsTest, LeaveWhenTheirCertificateDoesNotCountAnyMore) {
  serveWithTls();
  accounts.setAuthority(pairs.authority.certificate_pem);
  const auto stub = hosts(hostPair({"h0"}));
  grpc::ClientContext context;
  const Stream stream = stub->Join(&context);
  ASSERT_TRUE(stream->Write(joins("h0")));
  ASSERT_TRUE(hears({"h0 joins from 127.0.0.1"}));
  accounts.setAuthority(tls::makeAuthority(10).value().certificate_pem);
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(hears({"h0 joins from 127.0.0.1", "left"}));
}

// While the loop stands still, little more than what the streams' windows hold can be sent.
TEST_F(HostsTest, ThatFloodAreSlowedDown) {
  serve();
  const auto stub = hosts();
  grpc::ClientContext context;
  const Stream stream = stub->Join(&context);
  ASSERT_TRUE(stream->Write(joins("h0")));
  ASSERT_TRUE(hears({"h0 joins from 127.0.0.1"}));
  std::promise<void> goes_on;
  loop.loop().post([gone = goes_on.get_future().share()] { gone.wait(); });
  v1::HostReport report;
  report.mutable_said()->mutable_report()->mutable_records()->add_records()->set_bytes(
      std::string(1 << 20, 'x'));
  std::atomic<int> written = 0;
  const std::future<void> writer = std::async(std::launch::async, [&] {
    while (written < 100 && stream->Write(report)) ++written;
  });
  int before = -1;
  while (before != written || written == 0) {  // until it has not come on for a while
    before = written;
    if (writer.wait_for(std::chrono::milliseconds(300)) == std::future_status::ready) break;
  }
  EXPECT_LT(written, 50);
  goes_on.set_value();
  writer.wait();
  EXPECT_EQ(written, 100);
  EXPECT_TRUE(loop.until([this] { return gate.events.size() == 101; }));
}

TEST_F(HostsTest, ThatDoNotReadAreCutOff) {
  serve();
  const auto stub = hosts();
  grpc::ClientContext context;
  const Stream stream = stub->Join(&context);
  ASSERT_TRUE(stream->Write(joins("h0")));
  ASSERT_TRUE(hears({"h0 joins from 127.0.0.1"}));
  loop.run([this] {
    for (int i = 0; i < 100; ++i) gate.channel->send(order(i, 1 << 20));
  });
  EXPECT_TRUE(hears({"h0 joins from 127.0.0.1", "left"}));
}

TEST_F(HostsTest, ThatDoNotReadForLongAreCutOff) {
  serve({}, std::chrono::milliseconds(600));
  const auto stub = hosts();
  grpc::ClientContext context;
  const Stream stream = stub->Join(&context);
  ASSERT_TRUE(stream->Write(joins("h0")));
  ASSERT_TRUE(hears({"h0 joins from 127.0.0.1"}));
  loop.run([this] {
    for (int i = 0; i < 40; ++i) gate.channel->send(order(i, 1 << 20));
  });
  EXPECT_TRUE(hears({"h0 joins from 127.0.0.1", "left"}));
}

TEST_F(HostsTest, LeaveWhenTheDaemonStops) {
  serve();
  const auto stub = hosts();
  grpc::ClientContext context;
  const Stream stream = stub->Join(&context);
  ASSERT_TRUE(stream->Write(joins("h0")));
  ASSERT_TRUE(hears({"h0 joins from 127.0.0.1"}));
  stop();
  v1::HostOrder got;
  EXPECT_FALSE(stream->Read(&got));
  EXPECT_EQ(stream->Finish().error_message(), "popdistd is being stopped: by the test");
  EXPECT_TRUE(hears({"h0 joins from 127.0.0.1", "left"}));
}

}  // namespace
}  // namespace pop::popdistd
