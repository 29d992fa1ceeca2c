// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/shm/ring.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "common/base/random.h"
#include "libpopdist/collectives/messages/transport/transport.h"
#include "tests/testing/thread_group.h"

namespace popdist::transport {
namespace {

struct Ring {
  explicit Ring(std::size_t capacity)
      : memory(capacity + kGuardBytes, kGuard),
        producer(&header, memory.data(), capacity),
        consumer(&header, memory.data(), capacity) {}

  bool guardIntact() const {
    return std::all_of(memory.end() - kGuardBytes, memory.end(), [](std::byte b) { return b == kGuard; });
  }

  static constexpr std::ptrdiff_t kGuardBytes = 64;
  static constexpr std::byte kGuard{0xA5};

  RingHeader header;
  std::vector<std::byte> memory;
  RingProducer producer;
  RingConsumer consumer;
};

// Byte `index` of the stream; the period has no factor in common with any ring's size.
std::byte streamByte(std::uint64_t index) {
  return static_cast<std::byte>(index % 251);
}

std::vector<std::byte> streamBytes(std::uint64_t first, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = streamByte(first + i);
  return bytes;
}

TEST(Ring, OfZeroedMemoryIsEmpty) {
  Ring ring(256);
  EXPECT_TRUE(ring.consumer.peek().empty());
}

TEST(Ring, GivesBackWhatWasWritten) {
  Ring ring(256);
  const std::vector<std::byte> sent = streamBytes(0, 100);
  ASSERT_EQ(ring.producer.tryWrite(sent), 100U);
  const auto ready = ring.consumer.peek();
  EXPECT_EQ(std::vector(ready.begin(), ready.end()), sent);
}

TEST(Ring, ThatIsFullTakesNothingUntilSomethingIsConsumed) {
  Ring ring(256);
  ASSERT_EQ(ring.producer.tryWrite(streamBytes(0, 256)), 256U);
  EXPECT_EQ(ring.producer.tryWrite(streamBytes(256, 1)), 0U);
  ASSERT_EQ(ring.consumer.peek().size(), 256U);
  ring.consumer.consume(64);
  EXPECT_EQ(ring.producer.tryWrite(streamBytes(256, 1)), 1U);
}

TEST(Ring, KeepsRoomForWhatIsWrittenLast) {
  RingHeader header;
  std::vector<std::byte> memory(256);
  RingProducer producer(&header, memory.data(), memory.size(), 128);
  EXPECT_EQ(producer.tryWrite(streamBytes(0, 256)), 128U);
  EXPECT_EQ(producer.tryWrite(streamBytes(128, 1)), 0U);
  EXPECT_EQ(producer.writeLast(streamBytes(128, 128)), 128U);
}

TEST(Ring, CutsAMessageAtPartsOnly) {
  Ring ring(256);
  ASSERT_EQ(ring.producer.tryWrite(streamBytes(0, 250)), 250U);
  ASSERT_FALSE(ring.consumer.peek().empty());
  ring.consumer.consume(kPartAlignmentBytes + 3);  // free: 6 + part + 3
  const std::size_t expected = (kPartAlignmentBytes + 9) / kPartAlignmentBytes * kPartAlignmentBytes;
  EXPECT_EQ(ring.producer.tryWrite(streamBytes(250, 200)), expected);
}

TEST(Ring, TakesTheEndOfAMessageThatIsNoWholePart) {
  Ring ring(256);
  ASSERT_EQ(ring.producer.tryWrite(streamBytes(0, 250)), 250U);
  EXPECT_EQ(ring.producer.tryWrite(streamBytes(250, 6)), 6U);
}

TEST(Ring, ShowsDataAcrossItsEndInTwoPieces) {
  Ring ring(256);
  ASSERT_EQ(ring.producer.tryWrite(streamBytes(0, 192)), 192U);
  ring.consumer.consume(ring.consumer.peek().size());
  ASSERT_EQ(ring.producer.tryWrite(streamBytes(192, 128)), 128U);
  EXPECT_EQ(ring.consumer.peek().size(), 64U);
  ring.consumer.consume(64);
  EXPECT_EQ(ring.consumer.peek().size(), 64U);
  EXPECT_EQ(ring.consumer.peek().front(), streamByte(256));
}

TEST(Ring, AlignsBothSidesAlike) {
  Ring ring(256);
  ring.producer.tryWrite(streamBytes(0, 5));
  ring.producer.align();
  ring.producer.tryWrite(streamBytes(5, 7));
  ring.consumer.consume(5);
  ring.consumer.align();
  const auto ready = ring.consumer.peek();
  ASSERT_EQ(ready.size(), 7U);
  EXPECT_EQ(ready.front(), streamByte(5));
}

TEST(Ring, StaysConsistentWhenTheProducerAlignsBeyondWhatIsFree) {
  Ring ring(128);
  ASSERT_EQ(ring.producer.tryWrite(streamBytes(0, 64)), 64U);
  ASSERT_EQ(ring.producer.tryWrite(streamBytes(64, 64)), 64U);
  ring.consumer.consume(1);
  ASSERT_EQ(ring.producer.tryWrite(streamBytes(128, 1)), 1U);
  ring.producer.align();
  EXPECT_EQ(ring.producer.tryWrite(streamBytes(129, 1)), 0U);
  ring.consumer.consume(63);
  EXPECT_EQ(ring.producer.tryWrite(streamBytes(129, 1)), 0U);
  ring.consumer.consume(64);
  EXPECT_EQ(ring.producer.tryWrite(streamBytes(129, 1)), 1U);
}

// What a ring is, said in the simplest way: positions that count up, and the bytes in between.
class ReferenceRing {
 public:
  explicit ReferenceRing(std::uint64_t capacity) : capacity_(capacity) {}

  std::size_t tryWrite(std::span<const std::byte> bytes) {
    const std::uint64_t used = produced_ - consumed_;
    const std::uint64_t free = used < capacity_ ? capacity_ - used : 0;
    std::size_t count = bytes.size();
    if (count > free) count = static_cast<std::size_t>(free / kPartAlignmentBytes * kPartAlignmentBytes);
    unread_.insert(unread_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    produced_ += count;
    return count;
  }
  void alignProducer() { produced_ = aligned(produced_); }
  void alignConsumer() { consumed_ = aligned(consumed_); }

  // Of one message: those of the next lie behind the gap.
  const std::deque<std::byte>& unread() const { return unread_; }
  std::size_t untilEndOfMemory() const { return static_cast<std::size_t>(capacity_ - consumed_ % capacity_); }
  void consume(std::size_t count) {
    unread_.erase(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(count));
    consumed_ += count;
  }

 private:
  static std::uint64_t aligned(std::uint64_t position) {
    return (position + kMessageAlignmentBytes - 1) / kMessageAlignmentBytes * kMessageAlignmentBytes;
  }

  const std::uint64_t capacity_;
  std::uint64_t produced_ = 0;
  std::uint64_t consumed_ = 0;
  std::deque<std::byte> unread_;
};

// Two peers that take random turns at a ring and its reference.
class RandomWalk {
 public:
  RandomWalk(std::uint64_t seed, std::size_t capacity)
      : random_(seed), capacity_(capacity), ring_(capacity), reference_(capacity) {}

  void produce() {
    if (to_send_ == 0) {
      to_send_ = newLength();
      lengths_.push_back(to_send_);
    }
    const std::vector<std::byte> offered = streamBytes(sent_, std::min(to_send_, newLength()));
    const std::size_t taken = ring_.producer.tryWrite(offered);
    ASSERT_EQ(taken, reference_.tryWrite(offered));
    sent_ += taken;
    to_send_ -= taken;
    if (to_send_ > 0) return;
    ring_.producer.align();
    reference_.alignProducer();
  }

  void consume() {
    if (to_receive_ == 0 && lengths_.empty()) return;
    if (to_receive_ == 0) {
      to_receive_ = lengths_.front();
      lengths_.pop_front();
    }
    const auto ready = ring_.consumer.peek();
    ASSERT_EQ(ready.empty(), reference_.unread().empty());
    ASSERT_LE(ready.size(), reference_.untilEndOfMemory());
    const std::size_t offered = std::min(ready.size(), to_receive_);
    ASSERT_LE(offered, reference_.unread().size());
    ASSERT_TRUE(std::equal(ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(offered),
                           reference_.unread().begin()));
    const std::size_t taken = offered == 0 ? 0 : 1 + random_.below(offered);
    ring_.consumer.consume(taken);
    reference_.consume(taken);
    received_ += taken;
    to_receive_ -= taken;
    if (to_receive_ > 0) return;
    ring_.consumer.align();
    reference_.alignConsumer();
  }

  bool producesNext() { return random_.below(100) < bias_; }
  void changeBias() {
    bias_ = 20 + random_.below(61);
  }  // the ring is nearly full for a while, then nearly empty
  std::uint64_t received() const { return received_; }
  bool guardIntact() const { return ring_.guardIntact(); }

 private:
  std::size_t newLength() { return 1 + static_cast<std::size_t>(random_.below(2 * capacity_)); }

  pop::SplitMix64 random_;
  const std::size_t capacity_;
  Ring ring_;
  ReferenceRing reference_;
  std::uint64_t bias_ = 50;
  std::deque<std::size_t> lengths_;  ///< of messages that have been begun, not yet looked at by the consumer
  std::size_t to_send_ = 0;
  std::size_t to_receive_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

TEST(Ring, BehavesAsItsReferenceInRandomWalks) {
  for (const std::size_t capacity : {64U, 128U, 256U, 4096U}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      RandomWalk walk(seed, capacity);
      for (int turn = 0; turn < 1000; ++turn) {
        if (turn % 50 == 0) walk.changeBias();
        walk.producesNext() ? walk.produce() : walk.consume();
        if (::testing::Test::HasFatalFailure()) {
          FAIL() << "capacity " << capacity << ", seed " << seed << ", turn " << turn;
        }
      }
      EXPECT_TRUE(walk.guardIntact());
      EXPECT_GT(walk.received(), 3 * capacity) << "the walk has not gone round the ring";
    }
  }
}

TEST(Ring, CarriesAStreamBetweenTwoThreads) {
  constexpr std::uint64_t kTotal = 1 << 20;
  Ring ring(1024);
  testing::runThreads(2, [&](int side) {
    pop::SplitMix64 random(static_cast<std::uint64_t>(side));
    std::uint64_t done = 0;
    while (done < kTotal) {
      if (side == 0) {
        const std::uint64_t length = std::min<std::uint64_t>(1 + random.below(3000), kTotal - done);
        const std::size_t taken = ring.producer.tryWrite(streamBytes(done, static_cast<std::size_t>(length)));
        if (taken == 0) sched_yield();
        done += taken;
        continue;
      }
      const auto ready = ring.consumer.peek();
      if (ready.empty()) sched_yield();
      for (std::size_t i = 0; i < ready.size(); ++i) {
        ASSERT_EQ(ready[i], streamByte(done + i)) << "at " << done + i;
      }
      ring.consumer.consume(ready.size());
      done += ready.size();
    }
  });
  EXPECT_TRUE(ring.guardIntact());
}

}  // namespace
}  // namespace popdist::transport
