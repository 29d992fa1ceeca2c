// SPDX-License-Identifier: Apache-2.0
// Frames of another member of a backend, damaged: what is taken is what was due, in order and whole, and all
// else is an error that names who has sent it. Seeded, so that a failure comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "libpopdist/backends/messages/exchange.h"
#include "libpopdist/src/group/collective_call.h"

namespace popdist::backends {
namespace {

constexpr std::uint64_t kRounds = 20'000;
constexpr int kPeer = 1;

struct Sent {
  FrameHead head;
  std::vector<std::byte> payload;
};

/// One that has all frames of the other member, and loses him when they are used up.
class Arrived final : public Fabric {
 public:
  explicit Arrived(std::deque<Sent> frames) : frames_(std::move(frames)) {}

  std::string address() const override { return {}; }
  pop::Status connect(const std::vector<std::string>&, Deadline) override { return {}; }
  bool trySend(int, const Frame&) override { return true; }
  std::optional<Frame> front(int from) override {
    if (from != kPeer || frames_.empty()) return std::nullopt;
    return Frame{frames_.front().head, frames_.front().payload};
  }
  void pop(int) override { frames_.pop_front(); }
  bool allSent() override { return true; }
  void wait() override {}
  std::string broken(int) override { return {}; }
  void tell(std::span<const std::byte>) override {}
  std::optional<std::vector<std::byte>> nextNote() override {
    const std::string note =
        noteOf(Failure{.status = pop::unavailable("no more frames"), .peer_rank = kPeer});
    const auto bytes = std::as_bytes(std::span(note));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }

 private:
  std::deque<Sent> frames_;
};

PopdistGroupInfo infoOfRank0() {
  PopdistGroupInfo info{};
  info.rank = 0;
  info.ended = [](void*, const std::int32_t*, std::int32_t, char*, std::size_t) { return std::int32_t{-1}; };
  info.time_is_up = [](void*) { return std::int32_t{0}; };
  return info;
}

FrameHead headOf(std::size_t bytes) {
  const exec::CallKey key{plan::Operation::kAllGather, Type::kUint8, Operator::kSum, false, 0};
  return {.sequence = 7, .key = key.packed(), .count = bytes, .transfer_bytes = bytes};
}

// As a member sends them: pieces of the most that a frame carries, and the rest.
std::deque<Sent> framesOf(const std::vector<std::byte>& data) {
  std::deque<Sent> frames;
  std::size_t at = 0;
  do {
    const std::size_t bytes = std::min(kMostPayloadBytes, data.size() - at);
    const auto begin = data.begin() + static_cast<std::ptrdiff_t>(at);
    frames.push_back({headOf(data.size()), {begin, begin + static_cast<std::ptrdiff_t>(bytes)}});
    at += bytes;
  } while (at < data.size());
  return frames;
}

void damage(Sent& frame, pop::SplitMix64& random) {
  if (random.below(3) == 0) {
    frame.payload.resize(random.below(32) == 0 ? random.below(2 * kMostPayloadBytes) : random.below(200));
    return;
  }
  std::vector<std::byte> head(sizeof(frame.head));
  std::memcpy(head.data(), &frame.head, head.size());
  head[random.below(head.size())] = static_cast<std::byte>(random.next());
  std::memcpy(&frame.head, head.data(), head.size());
}

struct Received {
  Failure failure;
  std::vector<std::byte> bytes;
};

Received receive(std::deque<Sent> frames, std::size_t due) {
  Arrived fabric(std::move(frames));
  const PopdistGroupInfo info = infoOfRank0();
  Exchange exchange(fabric, info, headOf(due), "weights", Fabric::Clock::now() + std::chrono::hours(1));
  Received received;
  const auto sink = [&](std::size_t offset, std::span<const std::byte> piece) {
    EXPECT_EQ(offset, received.bytes.size());
    EXPECT_LE(offset + piece.size(), due);
    received.bytes.insert(received.bytes.end(), piece.begin(), piece.end());
  };
  received.failure = exchange.run({}, {.from = kPeer, .bytes = due, .sink = sink});
  return received;
}

std::vector<std::byte> someData(pop::SplitMix64& random) {
  std::vector<std::byte> data(random.below(32) == 0 ? random.below(3 * kMostPayloadBytes)
                                                    : random.below(100));
  const std::uint64_t number = random.next();  // here and there: enough to see where bytes go
  for (std::size_t i = 0; i + sizeof(number) <= data.size(); i += 4096)
    std::memcpy(&data[i], &number, sizeof(number));
  return data;
}

// Of any bytes: a failure, a wait, or neither.
TEST(ExchangeFuzz, NotesAreOneThingAtMost) {
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    pop::SplitMix64 random(round);
    std::vector<std::byte> note(random.below(8) == 0 ? random.below(2 * kMostNoteBytes) : random.below(40));
    for (std::byte& each : note) each = static_cast<std::byte>(random.below(4) == 0 ? random.next() : 0);
    const std::optional<Failure> failure = failureOf(note);
    const std::optional<Wait> wait = waitOf(note);
    ASSERT_FALSE(failure && wait) << round;
    ASSERT_FALSE(failure && failure->ok()) << round;
    ASSERT_FALSE(wait && wait->rank < 0) << round;
  }
}

TEST(ExchangeFuzz, WhatIsSentArrives) {
  for (std::uint64_t round = 0; round < kRounds / 10; ++round) {
    pop::SplitMix64 random(round);
    const std::vector<std::byte> data = someData(random);
    const Received received = receive(framesOf(data), data.size());
    ASSERT_TRUE(received.failure.ok()) << round << ": " << received.failure.status.message();
    ASSERT_EQ(received.bytes, data) << round;
  }
}

TEST(ExchangeFuzz, DamageIsAnErrorOrWhatWasDue) {
  int errors = 0;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    pop::SplitMix64 random(round);
    const std::vector<std::byte> data = someData(random);
    std::deque<Sent> frames = framesOf(data);
    damage(frames[random.below(frames.size())], random);
    if (random.below(4) == 0) frames.erase(frames.begin());
    std::vector<std::byte> due;  // if these are taken at all: all of them
    for (const Sent& frame : frames) due.insert(due.end(), frame.payload.begin(), frame.payload.end());
    due.resize(std::min(due.size(), data.size()));
    const Received received = receive(std::move(frames), data.size());
    if (received.failure.ok()) {
      ASSERT_EQ(received.bytes, due) << round;
      continue;
    }
    ++errors;
    ASSERT_EQ(received.failure.peer_rank, kPeer) << round;
    ASSERT_FALSE(received.failure.status.message().empty()) << round;
  }
  EXPECT_GT(errors, static_cast<int>(kRounds / 2));
}

}  // namespace
}  // namespace popdist::backends
