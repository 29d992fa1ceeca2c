// SPDX-License-Identifier: Apache-2.0
// Bytes that come over a backend's plugin, damaged and cut anywhere: what is taken is what was due, and all
// else is an error that names who has sent it. Seeded, so that a failure comes back.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "common/base/random.h"
#include "libpopdist/collectives/messages/exec/abort_message.h"
#include "tests/unit/libpopdist/collectives/messages/exec/shm_call.h"
#include "tests/unit/libpopdist/collectives/messages/transport/plugin/plugin_world.h"

namespace popdist::exec {
namespace {

constexpr std::uint64_t kPluginRounds = 20'000;
constexpr int kPeer = 1;
constexpr int kPeerInstance = 11;

/// The peer has ended: what has not come never will.
class Ended final : public PeerMonitor {
 public:
  bool anyEnded() override { return true; }
  std::optional<PeerLoss> loss(std::span<const int>) override {
    return PeerLoss{kPeerInstance, "instance 11 has ended"};
  }
};

using Bytes = std::vector<std::byte>;

Bytes someBytes(pop::SplitMix64& random) {
  Bytes bytes(1 + random.below(random.below(16) == 0 ? 5000 : 100));
  for (std::byte& each : bytes) each = static_cast<std::byte>(random.next());
  return bytes;
}

Header headOf(std::size_t count) {
  const CallKey key{.operation = plan::Operation::kBroadcast, .type = Type::kUint8, .root = kPeer};
  return {.sequence = 7, .count = count, .message_bytes = count, .key = key.packed()};
}

Bytes messageOf(const Bytes& data) {
  Bytes message(transport::kHeadBytes);
  const Header header = headOf(data.size());
  std::memcpy(message.data(), &header, sizeof(header));
  message.insert(message.end(), data.begin(), data.end());
  return message;
}

struct Received {
  Failure failure;
  Bytes bytes;
};

Received receive(const Bytes& message, std::size_t due, std::size_t most_piece) {
  transport::PluginWorld world(2, most_piece, message.size());
  for (std::size_t sent = 0; sent < message.size();)
    sent += world.connection(kPeer, 0).trySend(std::span(message).subspan(sent));
  Ended monitor;
  Received received{{}, Bytes(due)};
  received.failure = call(world,
                          {.operation = plan::Operation::kBroadcast,
                           .type = Type::kUint8,
                           .count = due,
                           .root = kPeer,
                           .sequence = 7,
                           .monitor = &monitor},
                          {{0, nullptr, received.bytes.data()}});
  return received;
}

TEST(PluginFuzz, WhatIsSentArrives) {
  for (std::uint64_t round = 0; round < kPluginRounds / 10; ++round) {
    pop::SplitMix64 random(round);
    const Bytes data = someBytes(random);
    const Received received = receive(messageOf(data), data.size(), 1 + random.below(200));
    ASSERT_TRUE(received.failure.status.ok()) << round << ": " << received.failure.status.message();
    ASSERT_EQ(received.bytes, data) << round;
  }
}

TEST(PluginFuzz, DamageIsAnErrorOrWhatWasDue) {
  int errors = 0;
  for (std::uint64_t round = 0; round < kPluginRounds; ++round) {
    pop::SplitMix64 random(round);
    const Bytes data = someBytes(random);
    Bytes message = messageOf(data);
    message[random.below(sizeof(Header))] = static_cast<std::byte>(random.next());
    if (random.below(4) == 0) message.resize(1 + random.below(message.size()));
    const Received received = receive(message, data.size(), 1 + random.below(200));
    if (received.failure.status.ok()) {
      ASSERT_EQ(received.bytes, data) << round;
      continue;
    }
    ++errors;
    const Failure& failure = received.failure;
    const bool named = failure.peer_rank == kPeer || failure.peer_instance == kPeerInstance || failure.heard;
    ASSERT_TRUE(named) << round << ": " << failure.status.message();
    ASSERT_FALSE(failure.status.message().empty()) << round;
  }
  EXPECT_GT(errors, static_cast<int>(kPluginRounds / 2));
}

}  // namespace
}  // namespace popdist::exec
