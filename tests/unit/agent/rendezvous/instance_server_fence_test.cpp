// SPDX-License-Identifier: Apache-2.0
// Put, get and fence as the instances see them; the controller's part is played by the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/agent/rendezvous/instance_server_fixture.h"

namespace pop::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using testing::runIdle;
using testing::runUntil;

using InstanceServerFence = InstanceServerTest;

const std::string kDeadlineExceeded = std::to_string(static_cast<int>(Code::kDeadlineExceeded));

TEST_F(InstanceServerFence, APutIsVisibleOnlyAfterTheFence) {
  const auto clients = allInstances();
  clients[0]->put("address/0", "here");
  EXPECT_EQ(clients[0]->get("address/0"), std::nullopt) << "not even to the one who put it";
  for (const auto& client : clients) client->enterFence();
  runUntil(loop, [this] { return !fences.empty(); });
  EXPECT_THAT(fences, ElementsAre(PutValues{{"address/0", "here"}}));
  EXPECT_EQ(clients[1]->get("address/0"), std::nullopt) << "other hosts may still be on their way";

  server->releaseFence({{"address/0", "here"}, {"address/3", "there"}});
  for (const auto& client : clients) {
    client->expect(Message::kFenceReleased);
    EXPECT_THAT(client->get("address/0"), Optional(std::string("here")));
    EXPECT_THAT(client->get("address/3"), Optional(std::string("there")));
    EXPECT_EQ(client->get("address/9"), std::nullopt);
  }
}

TEST_F(InstanceServerFence, IsReachedWhenTheLastLocalInstanceEnters) {
  const auto clients = allInstances();
  clients[0]->enterFence();
  clients[2]->enterFence();
  runIdle(loop);
  EXPECT_THAT(fences, IsEmpty());
  clients[1]->enterFence();
  runUntil(loop, [this] { return !fences.empty(); });
  EXPECT_EQ(fences.size(), 1U);
}

TEST_F(InstanceServerFence, CanBeEnteredAgainAndAgain) {
  const auto clients = allInstances();
  for (int round = 0; round < 20; ++round) {
    clients[1]->put("round", std::to_string(round));
    for (const auto& client : clients) client->enterFence();
    runUntil(loop, [&] { return fences.size() == static_cast<std::size_t>(round) + 1; });
    EXPECT_THAT(fences.back(),
                ElementsAre(std::pair<const std::string, std::string>("round", std::to_string(round))));
    server->releaseFence(fences.back());
    for (const auto& client : clients) client->expect(Message::kFenceReleased);
    EXPECT_THAT(clients[2]->get("round"), Optional(std::to_string(round)));
  }
}

TEST_F(InstanceServerFence, CarriesAnyBytes) {
  const auto clients = allInstances();
  const std::string value("\0\n\xff = ;\0", 9);
  clients[0]->put(value, value);
  clients[0]->put("empty", "");
  for (const auto& client : clients) client->enterFence();
  runUntil(loop, [this] { return !fences.empty(); });
  server->releaseFence(fences.back());
  clients[2]->expect(Message::kFenceReleased);
  EXPECT_THAT(clients[2]->get(value), Optional(value));
  EXPECT_THAT(clients[2]->get("empty"), Optional(std::string()));
}

TEST_F(InstanceServerFence, ThatTakesTooLongNamesWhoIsMissing) {
  const auto clients = allInstances();
  clients[1]->enterFence(1);
  const Client::Fields two = clients[1]->expect(Message::kError);
  EXPECT_THAT(two, ElementsAre(kDeadlineExceeded, "0",
                               "instances 0, 2 have not entered the fence in time (Context::setTimeout)"));

  clients[0]->enterFence();
  clients[1]->enterFence(1);
  EXPECT_THAT(clients[1]->expect(Message::kError),
              ElementsAre(kDeadlineExceeded, "2",
                          "instance 2 has not entered the fence in time (Context::setTimeout)"));
}

TEST_F(InstanceServerFence, DoesNotNameThoseWhoCameAndGaveUp) {
  const auto clients = allInstances();
  clients[0]->enterFence(1);
  clients[0]->expect(Message::kError);
  clients[1]->enterFence(1);
  EXPECT_THAT(clients[1]->expect(Message::kError),
              ElementsAre(kDeadlineExceeded, "2",
                          "instance 2 has not entered the fence in time (Context::setTimeout)"));
}

TEST_F(InstanceServerFence, NamesThoseWhoGaveUpWhereNobodyElseCanBeMissing) {
  open(3);
  const auto clients = allInstances();
  clients[0]->enterFence(1);
  clients[0]->expect(Message::kError);
  clients[1]->enterFence();
  clients[2]->enterFence(1);
  EXPECT_THAT(clients[2]->expect(Message::kError),
              ElementsAre(kDeadlineExceeded, "0",
                          "instance 0 has given up waiting in the fence (Context::setTimeout)"));
}

TEST_F(InstanceServerFence, ThatWaitsForAnotherHostSaysSo) {
  const auto clients = allInstances();
  clients[0]->enterFence();
  clients[1]->enterFence();
  clients[2]->enterFence(1);
  EXPECT_THAT(
      clients[2]->expect(Message::kError),
      ElementsAre(kDeadlineExceeded, "-1",
                  "an instance on another host has not entered the fence in time (Context::setTimeout)"));
}

TEST_F(InstanceServerFence, CanBeEnteredAgainAfterATimeout) {
  const auto clients = allInstances();
  clients[0]->enterFence(1);
  clients[0]->expect(Message::kError);
  clients[1]->enterFence();
  clients[2]->enterFence();
  runIdle(loop);
  EXPECT_THAT(fences, IsEmpty()) << "instance 0 has left it";
  clients[0]->enterFence();
  runUntil(loop, [this] { return !fences.empty(); });
}

TEST_F(InstanceServerFence, ForgetsWhatWasPutByThoseWhoGaveUp) {
  const auto clients = allInstances();
  clients[0]->put("address/0", "stale");
  clients[0]->enterFence(1);
  clients[0]->expect(Message::kError);
  for (const auto& client : clients) client->enterFence();
  runUntil(loop, [this] { return !fences.empty(); });
  EXPECT_THAT(fences.back(), IsEmpty());
}

TEST_F(InstanceServerFence, EnteredForDifferentThingsFailsForAllInside) {
  const auto clients = allInstances();
  clients[0]->enterFence(60'000, "initialise");
  runUntil(loop, [rounds = 0]() mutable { return ++rounds > 5; });
  clients[2]->enterFence(60'000, "register communicator");
  const std::string code = std::to_string(static_cast<int>(Code::kFailedPrecondition));
  for (const int instance : {0, 2}) {
    EXPECT_THAT(clients[static_cast<std::size_t>(instance)]->expect(Message::kError),
                ElementsAre(code, "2",
                            "the instances are in different calls: instance 0 in 'initialise', instance 2 in "
                            "'register communicator'"));
  }
  for (const auto& client : clients) client->enterFence();
  runUntil(loop, [this] { return !fences.empty(); });
  EXPECT_EQ(fences.size(), 1U) << "when they agree, they meet";
}

TEST_F(InstanceServerFence, SurvivesWordsThatFitIntoNoAnswer) {
  const auto clients = allInstances();
  clients[0]->enterFence(60'000, "initialise");
  runUntil(loop, [rounds = 0]() mutable { return ++rounds > 5; });
  // The tag is as long as a message may be: with anything around it, it is too long for one.
  std::atomic<bool> said{false};
  std::thread talker([&clients, &said] {
    clients[1]->enterFence(60'000, std::string(contract::kMaxFrameBytes - 32, 'x'));
    said = true;
  });
  runUntil(loop, [&said] { return said.load(); });
  talker.join();
  clients[0]->expect(Message::kError);
  EXPECT_EQ(clients[2]->get("key"), std::nullopt);
}

TEST_F(InstanceServerFence, DoesNotTimeOutOnceReleased) {
  // At once: the deadline may have passed already when the loop comes to its timers.
  on_fence = [this] { server->releaseFence({}); };
  const auto clients = allInstances();
  for (const auto& client : clients) client->enterFence(30);
  runUntil(loop, [this] { return !fences.empty(); });
  bool past_the_deadline = false;
  loop.postAfter(std::chrono::milliseconds(40), [&] { past_the_deadline = true; });
  runUntil(loop, [&] { return past_the_deadline; });
  clients[0]->expect(Message::kFenceReleased);
  EXPECT_EQ(clients[0]->get("key"), std::nullopt) << "and no error in between";
}

TEST_F(InstanceServerFence, IsLeftByAnInstanceThatDisconnects) {
  auto clients = allInstances();
  clients[0]->enterFence(1);
  clients[1]->enterFence();
  runUntil(loop, [rounds = 0]() mutable { return ++rounds > 3; });
  clients[0].reset();
  clients[2]->enterFence();
  runIdle(loop);
  EXPECT_THAT(fences, IsEmpty());
}

TEST_F(InstanceServerFence, EnteredTwiceAtOnceEndsTheConnectionAndNothingElse) {
  const auto clients = allInstances();
  clients[0]->enterFence(1);
  clients[0]->enterFence(1);
  EXPECT_TRUE(clients[0]->isClosed());
  bool past_the_deadlines = false;
  loop.postAfter(std::chrono::milliseconds(5), [&] { past_the_deadlines = true; });
  runUntil(loop, [&] { return past_the_deadlines; });
  EXPECT_EQ(clients[1]->get("key"), std::nullopt);
}

TEST_F(InstanceServerFence, AnInstanceThatDoesNotReadHoldsUpNobody) {
  const auto clients = allInstances();
  const std::string large(2 << 20, 'v');  // far more than a socket takes
  server->releaseFence({{"large", large}, {"small", "s"}});
  clients[0]->send(Message::kGet, {"large"});
  EXPECT_THAT(clients[1]->get("small"), Optional(std::string("s")));
  clients[0]->send(Message::kGet, {"small"});
  EXPECT_TRUE(clients[0]->expect(Message::kValue)[1] == large);
  EXPECT_EQ(clients[0]->expect(Message::kValue)[1], "s") << "in order, and whole";
}

// ---- how much: the agents of other hosts are told of it in one message

class InstanceServerFenceData : public InstanceServerTest {
 protected:
  using Clients = std::vector<std::unique_ptr<Client>>;

  void putByEach(const Clients& clients) {
    for (std::size_t index = 0; index < clients.size(); ++index)
      clients[index]->put("key " + std::to_string(index), much);
  }
  /// All enter; whether the controller hears of it.
  bool isReached(const Clients& clients) {
    const std::size_t before = fences.size();
    for (const auto& client : clients) client->enterFence();
    runIdle(loop);
    return fences.size() > before;
  }
  void expectRefusal(const Clients& clients) {
    for (const auto& client : clients)
      EXPECT_THAT(
          client->expect(Message::kError),
          ElementsAre(std::to_string(static_cast<int>(Code::kResourceExhausted)), "-1",
                      "the instances of this host have put more than 64 MiB for one fence (Context::put)"));
  }

  const std::string much = std::string(25 << 20, 'x');
};

TEST_F(InstanceServerFenceData, OfMoreThan64MiBIsRefusedAndForgotten) {
  const Clients clients = allInstances();
  putByEach(clients);
  EXPECT_FALSE(isReached(clients));
  expectRefusal(clients);
  clients[0]->put("key 0", much);
  EXPECT_TRUE(isReached(clients));
  EXPECT_THAT(fences.back(), ::testing::SizeIs(1));
}

TEST_F(InstanceServerFenceData, HasNoLimitWhereAllInstancesAreHere) {
  open(3);
  const Clients clients = allInstances();
  putByEach(clients);
  EXPECT_TRUE(isReached(clients));
}

TEST_F(InstanceServerFenceData, CountsWhatWasReportedForTheSameFenceUnderOtherKeys) {
  for (const char* key : {"same", "same", "same", "same", "another"}) {
    Clients clients = allInstances();
    clients[0]->put(key, much);
    ASSERT_TRUE(isReached(clients)) << key;
    clients.clear();  // they leave it
    runIdle(loop);
  }
  const Clients clients = allInstances();
  clients[0]->put("one too many", much);
  EXPECT_FALSE(isReached(clients));
  expectRefusal(clients);
}

// Each is given up once, and comes again with what was put.
TEST_F(InstanceServerFenceData, HasRoomOfItsOwnForEachFence) {
  for (int round = 0; round < 5; ++round) {
    const std::string key = "key " + std::to_string(round);
    Clients clients;
    for (int time = 0; time < 2; ++time) {
      clients.clear();
      runIdle(loop);
      clients = allInstances();
      clients[0]->put(key + " of 0", much);
      clients[1]->put(key + " of 1", much);
      ASSERT_TRUE(isReached(clients)) << round;
    }
    server->releaseFence({});
    for (const auto& client : clients) client->expect(Message::kFenceReleased);
  }
}

}  // namespace
}  // namespace pop::agent
