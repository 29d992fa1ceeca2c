// SPDX-License-Identifier: Apache-2.0
// Plans over a backend's plugin: the same results, and the same errors, as over our own connections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "libpopdist/collectives/messages/exec/abort_message.h"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/collectives/messages/exec/shm_call.h"
#include "tests/unit/libpopdist/collectives/messages/transport/plugin/plugin_world.h"
#include "tests/unit/libpopdist/collectives/messages/transport/tcp/tcp_world.h"

namespace popdist::exec {
namespace {

using plan::Operation;
using ::testing::HasSubstr;
using transport::PluginWorld;

PopdistStatus unavailable(const char* message) {
  PopdistStatus status{.code = static_cast<std::int32_t>(pop::Code::kUnavailable), .message = {}};
  std::strncpy(status.message, message, sizeof(status.message) - 1);
  return status;
}

// Their sums depend on the order in which they are made.
std::vector<float> floatsOf(int rank, std::size_t count) {
  pop::SplitMix64 random(static_cast<std::uint64_t>(rank));
  std::vector<float> floats(count);
  for (float& each : floats) each = static_cast<float>(random.below(1'000'000)) / 7.0F;
  return floats;
}

template <typename World>
std::vector<std::vector<float>> resultsOf(World& world, Operation operation, std::size_t count) {
  const auto ranks = static_cast<std::size_t>(world.size());
  const bool of_blocks = operation == Operation::kReduceScatter || operation == Operation::kAllToAll;
  std::vector<std::vector<float>> results(ranks);
  testing::runThreads(world.size(), [&](int rank) {
    std::vector<float> input = floatsOf(rank, of_blocks ? count * ranks : count);
    std::vector<float>& output = results[static_cast<std::size_t>(rank)];
    output.resize(count * ranks);
    const bool in_place = operation == Operation::kAllReduce || operation == Operation::kBroadcast;
    if (in_place) output = input;
    const Failure failure = call(world, {.operation = operation, .type = Type::kFloat, .count = count},
                                 {{rank, input.data(), output.data()}});
    EXPECT_TRUE(failure.status.ok()) << failure.status.message();
  });
  return results;
}

TEST(CallsOverAPlugin, GiveWhatOurOwnConnectionsGiveBitForBit) {
  for (const int ranks : {2, 3, 5}) {
    for (const std::size_t count : {1U, 999U, 70'001U}) {
      for (const Operation operation : {Operation::kAllReduce, Operation::kReduceScatter, Operation::kReduce,
                                        Operation::kAllGather, Operation::kBroadcast, Operation::kAllToAll}) {
        PluginWorld plugin(ranks, 30'011, 100'000);
        transport::TcpWorld tcp(ranks);
        EXPECT_EQ(resultsOf(plugin, operation, count), resultsOf(tcp, operation, count))
            << nameOf(operation) << " of " << count << " on " << ranks << " ranks";
      }
    }
  }
}

TEST(CallsOverAPlugin, MayBeOfElementsThatItCuts) {
  PluginWorld world(2, 13);
  testing::runThreads(2, [&](int rank) {
    std::vector<double> data(1000, rank + 1.0);
    const Failure failure =
        call(world, {.operation = Operation::kAllReduce, .type = Type::kDouble, .count = data.size()},
             {{rank, data.data(), data.data()}});
    EXPECT_TRUE(failure.status.ok()) << failure.status.message();
    EXPECT_THAT(data, ::testing::Each(3.0));
  });
}

const Request kBroadcast{.operation = Operation::kBroadcast, .type = Type::kInt32, .count = 10, .root = 0};

/// Has all delivered when the one that waits for it asks whether anybody has ended.
class DeliversWhenAsked final : public PeerMonitor {
 public:
  explicit DeliversWhenAsked(PluginWorld& world) : world_(world) {}
  bool anyEnded() override {
    world_.setDelivers(true);
    asked_ = true;
    return false;
  }
  std::optional<PeerLoss> loss(std::span<const int>) override { return std::nullopt; }
  bool asked() const { return asked_; }

 private:
  PluginWorld& world_;
  bool asked_ = false;
};

TEST(CallsOverAPlugin, AreNotOverBeforeWhatWasSentIsDelivered) {
  PluginWorld world(2);
  world.setDelivers(false);
  DeliversWhenAsked monitor(world);
  std::vector<std::int32_t> data(10);
  Request request = kBroadcast;  // there is room for all of it
  request.monitor = &monitor;
  EXPECT_TRUE(call(world, request, {{0, nullptr, data.data()}}).status.ok());
  EXPECT_TRUE(monitor.asked()) << "it has not waited";
}

TEST(CallsOverAPlugin, NameAtTheirDeadlineWhoHasNotGotAll) {
  PluginWorld world(2);
  world.setDelivers(false);
  std::vector<std::int32_t> data(10);
  Request soon = kBroadcast;
  soon.timeout = std::chrono::milliseconds(30);
  const Failure failure = call(world, soon, {{0, nullptr, data.data()}});
  EXPECT_EQ(failure.status.code(), pop::Code::kDeadlineExceeded);
  EXPECT_THAT(failure.status.message(), HasSubstr("waiting for rank 1: "));
  EXPECT_EQ(failure.peer_rank, 1);
}

TEST(CallsOverAPlugin, NameAPeerThatIsLost) {
  PluginWorld world(3);
  world.lose(2, unavailable("the cable is cut"));
  std::vector<float> data(10);
  const Failure failure = call(world, {.operation = Operation::kAllReduce, .type = Type::kFloat, .count = 10},
                               {{0, data.data(), data.data()}});
  EXPECT_EQ(failure.status, pop::unavailable("no connection to rank 2: the cable is cut"));
  EXPECT_EQ(failure.peer_rank, 2);
}

// Of which the first part has come.
TEST(CallsOverAPlugin, HearInTheMiddleOfAMessageWhyItsSenderHasGivenUp) {
  PluginWorld world(2, 1000, 500);
  Request soon{.operation = Operation::kBroadcast, .type = Type::kInt32, .count = 1000, .root = 0};
  std::vector<std::int32_t> data(soon.count);
  soon.timeout = std::chrono::milliseconds(30);
  const Failure given_up = call(world, soon, {{0, nullptr, data.data()}});
  EXPECT_EQ(given_up.status.code(), pop::Code::kDeadlineExceeded);
  world.connections(0).abandon(encodeAbortMessage(0, given_up), true);
  Request request = soon;
  request.timeout = std::chrono::seconds(20);
  const Failure failure = call(world, request, {{1, nullptr, data.data()}});
  EXPECT_EQ(failure.status.code(), pop::Code::kDeadlineExceeded);
  EXPECT_THAT(failure.status.message(), HasSubstr("rank 0 aborted the call: the deadline has passed"));
  EXPECT_EQ(failure.peer_rank, 0);
  EXPECT_TRUE(failure.heard);
}

TEST(CallsOverAPlugin, TakeWhatALostPeerHasSent) {
  PluginWorld world(2);
  std::vector<std::int32_t> sent(10, 7);
  EXPECT_TRUE(call(world, kBroadcast, {{0, nullptr, sent.data()}}).status.ok());
  world.lose(0, unavailable("it has left"));
  std::vector<std::int32_t> received(10);
  EXPECT_TRUE(call(world, kBroadcast, {{1, nullptr, received.data()}}).status.ok());
  EXPECT_EQ(received, sent);
}

}  // namespace
}  // namespace popdist::exec
