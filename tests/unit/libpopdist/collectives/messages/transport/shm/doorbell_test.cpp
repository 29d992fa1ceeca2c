// SPDX-License-Identifier: Apache-2.0
// A wake-up that gets lost costs the executor a nap and nobody notices. So here a nap is longer than the
// test's timeout.
#include "libpopdist/collectives/messages/transport/shm/doorbell.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <vector>

#include "libpopdist/collectives/messages/transport/socket_sleeper.h"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/collectives/messages/transport/shm/shm_world.h"

namespace popdist::transport {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kEndless{20'000};
constexpr std::chrono::seconds kTooLong{10};

TEST(Doorbell, WakesASleeper) {
  Doorbell doorbell;
  std::atomic<bool> ready = false;
  testing::runThreads(2, [&](int side) {
    if (side == 0) {
      DoorbellSleeper sleeper(&doorbell);
      sleeper.prepare();
      ready = true;
      ready.notify_one();
      const auto begin = Clock::now();
      sleeper.waitForRing(kEndless);
      EXPECT_LT(Clock::now() - begin, kTooLong);
      EXPECT_EQ(doorbell.asleep.load(), 0U);
      return;
    }
    ready.wait(false);
    doorbell.ring();
  });
  EXPECT_EQ(doorbell.rings.load(), 1U);
}

TEST(Doorbell, ThatRangBeforeTheSleepIsNotMissed) {
  Doorbell doorbell;
  DoorbellSleeper sleeper(&doorbell);
  sleeper.prepare();
  doorbell.ring();
  const auto begin = Clock::now();
  sleeper.waitForRing(kEndless);
  EXPECT_LT(Clock::now() - begin, kTooLong);
}

TEST(Doorbell, DoesNothingWhenNobodySleeps) {
  Doorbell doorbell;
  DoorbellSleeper sleeper(&doorbell);
  doorbell.ring();
  sleeper.prepare();
  sleeper.cancel();
  doorbell.ring();
  EXPECT_EQ(doorbell.rings.load(), 0U);
}

TEST(Doorbell, LeavesASleeperToItsLimit) {
  Doorbell doorbell;
  DoorbellSleeper sleeper(&doorbell);
  sleeper.prepare();
  const auto begin = Clock::now();
  sleeper.waitForRing(std::chrono::milliseconds(5));
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(4));
  EXPECT_EQ(doorbell.asleep.load(), 0U);
}

// What was rung for may be found before the ring comes.
TEST(Doorbell, RingsASleeperOnSocketsOnceThoughItComesLate) {
  Doorbell doorbell;
  SocketSleeper sleeper;
  ASSERT_TRUE(sleeper.listenTo(&doorbell).ok());
  sleeper.prepare();
  ASSERT_EQ(doorbell.asleep.exchange(Doorbell::kAwake), Doorbell::kOnSocket) << "half of ring()";
  sleeper.cancel();
  WakeSocket::wake(doorbell.socket_name.load());
  const auto slept = [&](std::chrono::milliseconds limit) {
    const auto begin = Clock::now();
    sleeper.prepare();
    sleeper.waitForRing(limit);
    return Clock::now() - begin;
  };
  EXPECT_LT(slept(kEndless), kTooLong);
  EXPECT_GE(slept(std::chrono::milliseconds(20)), std::chrono::milliseconds(19));
}

// Sleeps until `moved` says that there is something to do. False: it took far too long.
template <typename Moved>
bool sleepUntil(Sleeper& sleeper, const Moved& moved) {
  while (true) {
    sleeper.prepare();
    if (moved()) {
      sleeper.cancel();
      return true;
    }
    const auto begin = Clock::now();
    sleeper.waitForRing(kEndless);
    if (Clock::now() - begin > kTooLong) return false;
  }
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kPingPongs = 20'000;
#else
constexpr int kPingPongs = 100'000;
#endif

// Two threads at a time for a part of the turns, so that they are done long before their deadline on a busy
// machine.
template <typename Body>
void runTurns(int turns, const Body& body) {
  constexpr int kAtOnce = 5'000;
  for (int begin = 0; begin < turns; begin += kAtOnce)
    testing::runThreads(2, [&](int rank) { body(rank, begin, std::min(turns, begin + kAtOnce)); });
}

TEST(Doorbell, NeverLosesAWakeUpForArrivedData) {
  ShmWorld world = ShmWorld::oneRankEach(2);
  std::atomic<bool> lost = false;
  runTurns(kPingPongs, [&](int rank, int begin, int end) {
    Connection& peer = world.connection(rank, 1 - rank);
    const std::array<std::byte, 64> message{};
    for (int turn = begin; turn < end && !lost; ++turn) {
      if (turn % 2 == rank) {
        ASSERT_EQ(peer.trySend(message), message.size());
        continue;
      }
      if (!sleepUntil(world.sleeperOf(rank), [&] { return !peer.peek().empty(); })) lost = true;
      peer.consume(peer.peek().size());
    }
  });
  EXPECT_FALSE(lost);
}

TEST(Doorbell, NeverLosesAWakeUpForRoomInAFullChannel) {
  ShmWorld world = ShmWorld::oneRankEach(2);
  const std::vector<std::byte> most(1 << 20);
  const std::size_t capacity = world.connection(0, 1).trySend(most);
  ASSERT_LT(capacity, most.size());
  std::atomic<bool> lost = false;
  std::atomic<int> filled = 0;  // how often rank 0 has filled the channel again
  runTurns(kPingPongs / 4, [&](int rank, int begin, int end) {
    Connection& peer = world.connection(rank, 1 - rank);
    for (int turn = begin; turn < end && !lost; ++turn) {
      if (rank == 0) {
        const auto sent = [&] { return peer.trySend(std::span(most).first(64)) > 0; };
        if (!sleepUntil(world.sleeperOf(0), sent)) lost = true;
        filled = turn + 1;
        filled.notify_one();
        continue;
      }
      ASSERT_GE(peer.peek().size(), 64U);
      peer.consume(64);
      filled.wait(turn);
    }
  });
  EXPECT_FALSE(lost);
}

}  // namespace
}  // namespace popdist::transport
