// SPDX-License-Identifier: Apache-2.0
// Clients that may connect, their welcome, and the end of those that break the protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/contract/segment.h"
#include "common/sys/cores.h"
#include "common/sys/memfd.h"
#include "tests/unit/agent/rendezvous/instance_server_fixture.h"

namespace pop::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kProtocol = std::to_string(contract::kInstanceProtocol);

std::string number(Code code) {
  return std::to_string(static_cast<int>(code));
}

class InstanceServerHello : public InstanceServerTest {
 protected:
  // The error with which these fields of a hello are refused.
  Client::Fields refusalOf(const Client::Fields& hello) {
    Client client = unauthenticated();
    client.send(Message::kHello, hello);
    const Client::Fields error = client.expect(Message::kError);
    EXPECT_TRUE(client.isClosed()) << "there is nothing more to say";
    return error;
  }
};

TEST_F(InstanceServerHello, IsAnsweredWithTheHostsSegment) {
  Client client = unauthenticated();
  client.send(Message::kHello, {kProtocol, "2", job_id});
  EXPECT_EQ(client.expect(Message::kWelcome)[0], std::to_string(contract::segmentBytesFor(4)));
  ASSERT_EQ(client.fds().size(), 1U);
  const sys::Mapping mapping = sys::mapShared(client.fds()[0].get(), contract::kPieceAlignmentBytes).value();
  const auto* header = reinterpret_cast<const contract::SegmentHeader*>(mapping.data());
  EXPECT_EQ(header->magic, contract::kSegmentMagic);
  EXPECT_EQ(header->instances, 4U) << "of the whole job";
}

// An instance that is bound to fewer, or whose parent is, cannot know it otherwise.
TEST_F(InstanceServerHello, IsAnsweredWithTheCoresOfTheAgent) {
  Client client = unauthenticated();
  client.send(Message::kHello, {kProtocol, "2", job_id});
  const Client::Fields welcome = client.expect(Message::kWelcome);
  ASSERT_EQ(welcome.size(), 4U);
  EXPECT_EQ(welcome[3], std::to_string(sys::usableCores().value().size()));
}

// Every user sees the names of sockets, and job ids in them.
TEST_F(InstanceServerHello, IsAtANameThatNobodyCanTakeBefore) {
  InstanceServer another(loop, {});
  const Result<std::string> name = another.open({.job_id = job_id, .num_instances = 4});
  ASSERT_TRUE(name.ok()) << name.status().message();
  EXPECT_NE(name.value(), socket);
}

TEST_F(InstanceServerHello, GivesAllInstancesTheSameSegment) {
  const auto first = instance(0);
  const auto second = instance(1);
  constexpr std::size_t kBytes = 1 << 20;
  const sys::Mapping ours = sys::mapShared(first->fds().at(0).get(), kBytes).value();
  const sys::Mapping theirs = sys::mapShared(second->fds().at(0).get(), kBytes).value();
  ours.data()[kBytes - 1] = std::byte{77};
  EXPECT_EQ(theirs.data()[kBytes - 1], std::byte{77});
}

TEST_F(InstanceServerHello, OfAnotherProtocolIsRefused) {
  const std::string before = std::to_string(contract::kInstanceProtocol - 1);
  const std::string after = std::to_string(contract::kInstanceProtocol + 1);
  for (const std::string& protocol :
       {before, after, std::string("0"), std::string("-1"), std::string("one"), std::string()}) {
    const Client::Fields error = refusalOf({protocol, "0", job_id});
    EXPECT_EQ(error[0], number(Code::kFailedPrecondition));
    EXPECT_EQ(error[1], "-1");
    EXPECT_THAT(error[2], HasSubstr("different protocol versions (poprun: " +
                                    std::to_string(contract::kInstanceProtocol) + ')'));
  }
}

TEST_F(InstanceServerHello, OfAnotherJobOrHostIsRefused) {
  for (const Client::Fields& hello : {Client::Fields{kProtocol, "0", "other"},
                                      {kProtocol, "0"},
                                      {kProtocol, "3", job_id},
                                      {kProtocol, "-1", job_id},
                                      {kProtocol, "zero", job_id},
                                      {kProtocol}}) {
    const Client::Fields error = refusalOf(hello);
    EXPECT_EQ(error[0], number(Code::kInvalidArgument));
    EXPECT_EQ(error[2], "not an instance of this job on this host");
  }
}

TEST_F(InstanceServerHello, OfAnInstanceThatIsConnectedIsRefused) {
  const auto first = instance(1);
  const Client::Fields error = refusalOf({kProtocol, "1", job_id});
  EXPECT_EQ(error[0], number(Code::kAlreadyExists));
  EXPECT_EQ(error[1], "1");
  EXPECT_THAT(error[2], HasSubstr("instance 1 is connected already"));
  EXPECT_EQ(first->get("key"), std::nullopt) << "the first one is not disturbed";
}

TEST_F(InstanceServerHello, IsWelcomeAgainWhenTheFirstConnectionIsGone) {
  instance(1).reset();
  testing::runIdle(loop);
  EXPECT_EQ(instance(1)->get("key"), std::nullopt);
}

TEST_F(InstanceServerHello, CannotBeSaidTwice) {
  const auto client = instance(1);
  client->send(Message::kHello, {kProtocol, "2", job_id});
  EXPECT_TRUE(client->isClosed()) << "one connection is one instance";
  EXPECT_EQ(instance(2)->get("key"), std::nullopt) << "and instance 2 can still come";
}

TEST_F(InstanceServerHello, MustComeFirst) {
  const std::vector<std::pair<Message, Client::Fields>> messages{{Message::kPut, {"key", "value"}},
                                                                 {Message::kGet, {"key"}},
                                                                 {Message::kFence, {"1000", "init"}},
                                                                 {Message::kAbort, {"1", "enough"}}};
  for (const auto& [type, fields] : messages) {
    Client client = unauthenticated();
    client.send(type, fields);
    EXPECT_TRUE(client.isClosed()) << static_cast<int>(type);
  }
  EXPECT_THAT(aborts, IsEmpty());
  EXPECT_THAT(fences, IsEmpty());
}

TEST_F(InstanceServerHello, MalformedBytesCloseTheirConnectionOnly) {
  const auto good = instance(0);
  const auto bad = instance(1);
  Client unauthenticated_too = unauthenticated();
  bad->sendBytes(std::string("\x05\0\0\0\x03\xff\xff\xff\xff", 9));
  unauthenticated_too.sendBytes("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(bad->isClosed());
  EXPECT_TRUE(unauthenticated_too.isClosed());
  EXPECT_EQ(good->get("key"), std::nullopt);
}

TEST_F(InstanceServerHello, MessagesOfUnknownFormCloseTheConnection) {
  const std::vector<std::pair<Message, Client::Fields>> messages{
      {Message::kPut, {"key"}},          {Message::kGet, {}},
      {Message::kGet, {"key", "more"}},  {Message::kFence, {}},
      {Message::kFence, {"1000"}},       {Message::kFence, {"soon", "init"}},
      {Message::kFence, {"-5", "init"}}, {Message::kAbort, {"1"}},
      {Message::kWelcome, {"1"}},        {Message{200}, {}}};
  for (const auto& [type, fields] : messages) {
    const auto client = instance(0);
    client->send(type, fields);
    EXPECT_TRUE(client->isClosed()) << static_cast<int>(type) << " with " << fields.size() << " fields";
  }
}

TEST_F(InstanceServerHello, AMessageMayComeInPieces) {
  const auto client = instance(0);
  const std::string bytes = contract::encode({static_cast<std::uint8_t>(Message::kGet), {"key"}}).value();
  for (const char byte : bytes) {
    client->sendBytes({&byte, 1});
    testing::runUntil(loop, [rounds = 0]() mutable { return ++rounds > 2; });
  }
  EXPECT_EQ(client->expect(Message::kValue)[0], "0");
}

TEST_F(InstanceServerHello, AnAbortReachesTheController) {
  const auto client = instance(2);
  client->send(Message::kAbort, {"42", "loss is NaN"});
  client->expect(Message::kAborted);
  EXPECT_THAT(aborts, ElementsAre(FieldsAre(2, 42, "loss is NaN")));
}

// The report of an abort is kept, and waits for a host's link.
TEST_F(InstanceServerHello, AnAbortIsReportedOnceAndAlwaysAnswered) {
  for (int time = 0; time < 3; ++time) {
    const auto client = instance(2);
    for (const char* message : {"loss is NaN", "again"}) {
      client->send(Message::kAbort, {"42", message});
      client->expect(Message::kAborted);
    }
  }
  EXPECT_THAT(aborts, ElementsAre(FieldsAre(2, 42, "loss is NaN")));
}

TEST_F(InstanceServerHello, AnAbortNeverLooksLikeSuccess) {
  for (const char* code : {"0", "-3", "256", "many", "99999999999"}) {
    open(4);
    aborts.clear();
    const auto client = instance(2);
    client->send(Message::kAbort, {code, "enough"});
    client->expect(Message::kAborted);
    EXPECT_NE(std::get<1>(aborts.at(0)) & 0xff, 0) << code << ": the exit code that a shell sees of it";
  }
}

TEST_F(InstanceServerHello, WaitsWhileThereIsNoDescriptorForIt) {
  auto first = instance(0);
  Client second = unauthenticated();
  second.send(Message::kHello, {kProtocol, "1", job_id});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const sys::Fd next(::dup(STDERR_FILENO));
  const rlimit full{static_cast<rlim_t>(next.get()), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &full), 0);
  testing::runIdle(loop);
  EXPECT_EQ(first->get("key"), std::nullopt) << "the others are served";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  first.reset();
  EXPECT_EQ(second.expect(Message::kWelcome)[0], std::to_string(contract::segmentBytesFor(4)));
}

TEST_F(InstanceServerHello, TheServerMayGoWhileInstancesAreConnected) {
  const auto client = instance(0);
  client->enterFence();
  server.reset();
  EXPECT_TRUE(client->isClosed());
}

}  // namespace
}  // namespace pop::agent
