// SPDX-License-Identifier: Apache-2.0
// Connections over a backend's plugin: bytes keep their order however the plugin cuts them, and all that it
// may answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/unit/libpopdist/collectives/messages/transport/plugin/plugin_world.h"

namespace popdist::transport {
namespace {

using ::testing::IsEmpty;

using PluginBytes = std::vector<std::byte>;

PluginBytes someBytes(std::size_t count, std::uint64_t seed) {
  pop::SplitMix64 random(seed);
  PluginBytes bytes(count);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random.next());
  return bytes;
}

PopdistStatus statusOf(std::int32_t code, const char* message) {
  PopdistStatus status{.code = code, .message = {}};
  std::strncpy(status.message, message, sizeof(status.message) - 1);
  return status;
}

std::span<const std::byte> from(const PluginBytes& bytes, std::size_t offset) {
  return std::span(bytes).subspan(offset);
}

TEST(PluginStream, KeepsTheOrderOfAllThatIsSent) {
  PluginWorld world(2);
  Connection& sender = world.connection(0, 1);
  Connection& receiver = world.connection(1, 0);
  const PluginBytes sent = someBytes(100'000, 3);
  PluginBytes received(sent.size());
  pop::SplitMix64 random(4);
  for (std::size_t out = 0, in = 0; in < sent.size();) {
    const std::size_t half = random.below(sent.size() - out + 1);
    out += sender.trySendBoth(from(sent, out).first(half), from(sent, out + half));
    if (random.below(2) == 0) receiver.fetch(1 + random.below(200));
    const std::size_t most = 1 + random.below(2000);
    in += receiver.tryReceive(std::span(received).subspan(in, std::min(most, sent.size() - in)));
    ASSERT_LE(in, out);
  }
  EXPECT_EQ(received, sent);
}

// As a sender needs it that is interrupted in the head of a message.
TEST(PluginStream, TakesAsMuchAsThereIsRoomFor) {
  PluginWorld world(2, 1, 70);
  Connection& sender = world.connection(0, 1);
  const PluginBytes head = someBytes(kHeadBytes, 1);
  const PluginBytes rest = someBytes(100, 2);
  std::size_t sent = 0;
  while (sent < kHeadBytes) sent += sender.trySendBoth(from(head, sent), rest);
  EXPECT_EQ(sent, kHeadBytes);
  while (const std::size_t more = sender.trySend(from(rest, sent - kHeadBytes))) sent += more;
  EXPECT_EQ(sent, 70U);
}

// Heads and elements are read in place.
TEST(PluginStream, JoinsWhatMustLieInOnePiece) {
  PluginWorld world(2, 7);
  Connection& sender = world.connection(0, 1);
  Connection& receiver = world.connection(1, 0);
  const PluginBytes sent = someBytes(3 * kHeadBytes + 5, 5);
  for (std::size_t out = 0; out < sent.size();) out += sender.trySend(from(sent, out));
  std::size_t at = 0;
  for (const std::size_t needed : {kHeadBytes, kHeadBytes / 2, kHeadBytes, std::size_t{8}}) {
    receiver.fetch(needed);
    const auto ready = receiver.peek();
    ASSERT_GE(ready.size(), needed);
    EXPECT_TRUE(std::equal(ready.begin(), ready.end(), sent.begin() + static_cast<std::ptrdiff_t>(at)));
    receiver.consume(needed);
    at += needed;
  }
  PluginBytes last(sent.size() - at);
  for (std::size_t in = 0; in < last.size();) in += receiver.tryReceive(std::span(last).subspan(in));
  EXPECT_TRUE(std::equal(last.begin(), last.end(), sent.begin() + static_cast<std::ptrdiff_t>(at)));
}

TEST(PluginStream, ShowsWhatThereIsWhereMoreHasNotCome) {
  PluginWorld world(2, 1);
  Connection& receiver = world.connection(1, 0);
  receiver.fetch(kHeadBytes);
  EXPECT_THAT(receiver.peek(), IsEmpty());
  const PluginBytes sent = someBytes(3, 6);
  for (std::size_t out = 0; out < sent.size();) out += world.connection(0, 1).trySend(from(sent, out));
  receiver.fetch(kHeadBytes);
  EXPECT_EQ(receiver.peek().size(), sent.size());
}

TEST(PluginStream, SaysWhyAPeerIsLost) {
  PluginWorld world(3);
  EXPECT_TRUE(world.connection(0, 1).failure().ok());
  world.lose(1, statusOf(static_cast<std::int32_t>(pop::Code::kUnavailable), "the cable is cut"));
  EXPECT_EQ(world.connection(0, 1).failure(), pop::unavailable("the cable is cut"));
  EXPECT_TRUE(world.connection(0, 2).failure().ok());
}

// Also behind half a message, and where there is no room.
TEST(PluginConnections, TellWhatTheyAreAbandonedFor) {
  PluginWorld world(3, 1000, 100);
  const PluginBytes part = someBytes(100, 8);
  for (std::size_t sent = 0; sent < part.size();) sent += world.connection(0, 1).trySend(from(part, sent));
  const PluginBytes words = someBytes(300, 7);
  world.connections(0).abandon(words, true);
  for (const int peer : {1, 2}) {
    Connection& receiver = world.connection(peer, 0);
    EXPECT_EQ(receiver.failure(), pop::unavailable("it has closed"));
    EXPECT_THAT(receiver.abortMessage(), ::testing::ElementsAreArray(words));
    PluginBytes received(peer == 1 ? part.size() : 0);
    for (std::size_t in = 0; in < received.size();)
      in += receiver.tryReceive(std::span(received).subspan(in));
    EXPECT_THAT(receiver.peek(), IsEmpty());
  }
  EXPECT_THAT(world.connection(1, 2).abortMessage(), IsEmpty());
}

TEST(PluginConnections, TellNobodyWhatAllKnow) {
  PluginWorld world(3);
  world.connections(0).abandon(someBytes(300, 10), false);
  EXPECT_THAT(world.closedBy(0), IsEmpty());
}

TEST(PluginConnections, SayToWhomSomethingIsUnderWay) {
  PluginWorld world(3);
  std::vector<int> ranks;
  world.endpoint(1).appendUndelivered(ranks);
  EXPECT_THAT(ranks, IsEmpty());
  world.setDelivers(false);
  world.endpoint(1).appendUndelivered(ranks);
  EXPECT_THAT(ranks, ::testing::ElementsAre(0, 2));
}

TEST(PluginConnections, HaveTheHostInTheirAddress) {
  PluginWorld world(2);
  EXPECT_EQ(Connections::hostIn(world.connections(1).address(1)), "10.0.0.1");
}

TEST(PluginConnections, FailAsThePluginDoes) {
  EXPECT_EQ(PluginWorld::makeOne(statusOf(7, "no door is open")).status(),
            pop::Status(pop::Code::kPermissionDenied, "no door is open"));
  EXPECT_EQ(PluginWorld::connectAnew(statusOf(14, "nobody is there"), std::nullopt),
            pop::unavailable("nobody is there"));
}

TEST(PluginConnections, TellThePluginWhoHasEnded) {
  EXPECT_EQ(PluginWorld::connectAnew({}, "instance 3 has exited"), pop::unavailable("instance 3 has exited"));
  EXPECT_TRUE(PluginWorld::connectAnew({}, std::nullopt).ok());
}

// Whoever has written the plugin.
TEST(PluginConnections, TakeAnyCodeAndAnyMessage) {
  PopdistStatus status{.code = 99, .message = {}};
  std::memset(status.message, 'x', sizeof(status.message));
  EXPECT_EQ(PluginWorld::connectAnew(status, std::nullopt),
            pop::Status(pop::Code::kUnknown, std::string(sizeof(status.message), 'x')));
  EXPECT_EQ(PluginWorld::connectAnew(statusOf(-1, ""), std::nullopt).code(), pop::Code::kUnknown);
}

}  // namespace
}  // namespace popdist::transport
