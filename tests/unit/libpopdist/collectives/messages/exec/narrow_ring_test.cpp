// SPDX-License-Identifier: Apache-2.0
// Two ranks over rings that hold little more than a header, so that every message and every header meets a
// full ring at every possible place. One thread takes both sides' turns, also in the middle of a receive:
// what two processes do once in a million calls happens here at once, and the same way in every run.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "libpopdist/collectives/messages/exec/rank_progress.h"
#include "tests/unit/libpopdist/collectives/messages/exec/narrow_channel.h"

namespace popdist::exec {
namespace {

using Sizes = std::vector<std::size_t>;

// Messages of the given sizes, one a round, from rank 0 to rank 1.
plan::Plan planFor(const Sizes& sizes, plan::StepKind kind) {
  plan::Plan plan;
  std::size_t offset = 0;
  for (const std::size_t size : sizes) {
    const plan::Slice slice{plan::Buffer::kOutput, offset};
    plan.steps.push_back({.kind = kind,
                          .round = static_cast<std::uint32_t>(plan.steps.size()),
                          .peer = kind == plan::StepKind::kSend ? 1 : 0,
                          .from = slice,
                          .to = slice,
                          .count = size});
    offset += size;
  }
  return plan;
}

std::vector<std::uint8_t> bytesFor(const Sizes& sizes) {
  std::size_t total = 0;
  for (const std::size_t size : sizes) total += size;
  std::vector<std::uint8_t> bytes(total);
  for (std::size_t i = 0; i < total; ++i) bytes[i] = static_cast<std::uint8_t>(i % 251);
  return bytes;
}

// Both ranks, and the rings between them.
class Transfer {
 public:
  Transfer(const Sizes& sizes, std::size_t ring_bytes)
      : sent_(bytesFor(sizes)),
        received_(sent_.size(), 0xEE),
        channel_(ring_bytes),
        sending_(planFor(sizes, plan::StepKind::kSend)),
        receiving_(planFor(sizes, plan::StepKind::kRecv)),
        sender_(kCall, {.plan = &sending_, .output = sent_.data(), .endpoint = &sender_end_}, waiting_),
        receiver_(kCall, {.plan = &receiving_, .output = received_.data(), .endpoint = &receiver_end_},
                  waiting_) {}

  bool send() { return sender_.poll(); }
  void sendAllThatFits() {
    while (sender_.poll()) {
    }
  }
  bool receive() { return receiver_.poll(); }
  void receiveAllThatIsThere() {
    while (receiver_.poll()) {
    }
  }
  void betweenConsumeAndAlign(std::function<void()> hook) { receiver_end_.after_consume = std::move(hook); }

  bool done() const { return sender_.done() && receiver_.done(); }
  bool correct() const { return done() && !receiver_.refusal() && sent_ == received_; }

 private:
  static constexpr Call kCall{.count = 1};
  const Waiting waiting_;

  std::vector<std::uint8_t> sent_;
  std::vector<std::uint8_t> received_;
  Channel channel_;
  Channel unused_{transport::kHeadBytes};
  End sender_end_{channel_, unused_};
  End receiver_end_{unused_, channel_};
  const plan::Plan sending_;
  const plan::Plan receiving_;
  RankProgress sender_;
  RankProgress receiver_;
};

TEST(NarrowRing, IsNoProblemForMessagesOfAnySize) {
  for (std::size_t size = 1; size <= 300; ++size) {
    Transfer transfer(Sizes(20, size), 256);
    while (!transfer.done() && (transfer.send() || transfer.receive())) {
    }
    EXPECT_TRUE(transfer.correct()) << size;
  }
}

// The first message is 36 bytes long and has been read, but the ring is not yet aligned: the sender finds
// room for 36 more bytes, and what comes next is a header of 64. The receiver must not take a part of it for
// all that there is.
TEST(NarrowRing, WithRoomForPartOfAHeaderDoesNotBlock) {
  Transfer transfer({36, 128, 4}, 256);
  int consumed = 0;
  transfer.betweenConsumeAndAlign([&] {
    if (++consumed == 2) transfer.sendAllThatFits();  // header, then elements of the first message
  });
  transfer.send();
  transfer.receiveAllThatIsThere();
  transfer.sendAllThatFits();
  transfer.receiveAllThatIsThere();
  transfer.sendAllThatFits();
  transfer.receiveAllThatIsThere();
  EXPECT_TRUE(transfer.correct());
}

void takeRandomTurns(Transfer& transfer, pop::SplitMix64& random) {
  transfer.betweenConsumeAndAlign([&] {
    while (random.below(2) == 0 && transfer.send()) {
    }
  });
  while (!transfer.done()) {
    if (random.below(3) == 0 ? transfer.send() : transfer.receive()) continue;
    if (!transfer.send() && !transfer.receive()) return;  // nobody can move
  }
}

TEST(NarrowRing, IsNoProblemInRandomTurns) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    pop::SplitMix64 random(seed);
    Sizes sizes(50);
    for (std::size_t& size : sizes)
      size = 1 + static_cast<std::size_t>(random.below(seed % 2 == 0 ? 80 : 400));
    const std::size_t ring_bytes = std::size_t{128} << random.below(3);
    Transfer transfer(sizes, ring_bytes);
    takeRandomTurns(transfer, random);
    ASSERT_TRUE(transfer.correct()) << "seed " << seed << ", ring of " << ring_bytes << " bytes";
  }
}

}  // namespace
}  // namespace popdist::exec
