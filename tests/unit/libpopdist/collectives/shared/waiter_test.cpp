// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/shared/waiter.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <stop_token>
#include <thread>

#include "common/sys/cores.h"

namespace popdist::shared {
namespace {

using std::chrono::milliseconds;

class NobodyEnds final : public exec::PeerMonitor {
 public:
  bool anyEnded() override { return false; }
  std::optional<exec::PeerLoss> loss(std::span<const int>) override { return std::nullopt; }
};

// Two ranks' control block; the test is rank 0, and rank 1 waits for it.
class WaitingRank : public ::testing::Test {
 protected:
  static constexpr milliseconds kTimeout{20'000};

  Waiter waiter(bool oversubscribed) {
    return Waiter({.control_block = control_block_,
                   .rank = 1,
                   .monitor = &monitor_,
                   .oversubscribed = oversubscribed,
                   .host_cores = host_cores_,
                   .describe = [](int) { return std::string("absent"); },
                   .absent = [] { return std::vector<int>(); }});
  }
  std::atomic<std::uint64_t>& word() const { return control_block_.counter(0, plan::Counter::kDone); }

  // The core on which rank 1 waits, from 1 on, as soon as it waits on one but `not_this`.
  std::uint32_t whereItWaits(const std::stop_token& stop, std::uint32_t not_this = 0) const {
    for (;;) {
      const std::uint32_t core = control_block_.waitsOn(1).load();
      if (stop.stop_requested() || (core != 0 && core != not_this)) return core;
      std::this_thread::yield();
    }
  }

  int host_cores_ = static_cast<int>(pop::sys::usableCores()->size());

 private:
  struct alignas(4096) Memory {
    std::array<std::byte, 64 << 10> bytes{};
  };
  const std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  NobodyEnds monitor_;

 protected:
  const ControlBlock control_block_{memory_->bytes.data(), 2, 4096};
};

TEST_F(WaitingRank, LeavesTheCoreOnWhichTheOtherSaysThatItWaits) {
  // The word comes once rank 1 has been elsewhere.
  std::jthread other([this](const std::stop_token& stop) {
    const std::uint32_t first = whereItWaits(stop);
    control_block_.waitsOn(0).store(first);
    whereItWaits(stop, first);
    word().store(1);
  });
  Waiter waits = waiter(false);
  for (int turn = 0; word().load() == 0; ++turn) {
    waits.start(milliseconds(20));
    static_cast<void>(waits.until(word(), 1, 0));
    ASSERT_LT(turn, kTimeout / milliseconds(20)) << "it stays";
  }
  other.join();
  EXPECT_EQ(control_block_.waitsOn(1).load(), 0U) << "it waits no more";
}

TEST_F(WaitingRank, StaysWhereRanksOutnumberCores) {
  control_block_.waitsOn(0).store(static_cast<std::uint32_t>(pop::sys::currentCore() + 1));
  Waiter waits = waiter(true);
  waits.start(milliseconds(20));
  EXPECT_FALSE(waits.until(word(), 1, 0));
  EXPECT_EQ(control_block_.waitsOn(1).load(), 0U) << "nor is it said where";
}

TEST_F(WaitingRank, LeavesACoreThatHasTwoRanksMoreThanAnother) {
  if (host_cores_ < 2) GTEST_SKIP() << "there is one core";
  Waiter waits = waiter(true);
  // The system may move it, too, but not again and again.
  constexpr int kMoves = 5;
  int moves = 0;
  const auto last = std::chrono::steady_clock::now() + kTimeout;
  while (moves < kMoves && std::chrono::steady_clock::now() < last) {
    const auto here = static_cast<std::uint32_t>(pop::sys::currentCore() + 1);
    control_block_.runsOn(0).store(here);
    waits.yieldCore(
        2, 1, [&](int) -> auto& { return word(); });
    const std::uint32_t now = control_block_.runsOn(1).load();
    if (now != 0 && now != here) ++moves;
  }
  EXPECT_EQ(moves, kMoves);
}

// How often rank 1 looks at rank 0's word while it gives way.
class GivingWay : public WaitingRank {
 protected:
  int looks(bool oversubscribed) {
    int looks = 0;
    Waiter waits = waiter(oversubscribed);
    waits.yieldCore(
        2, 1, [&](int) -> auto& {
          ++looks;
          return word();
        });
    return looks;
  }
  // Stays on one core, else what it says of it may be old.
  void SetUp() override {
    ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed_), &allowed_), 0);
    core_ = pop::sys::currentCore();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(core_), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  }
  void TearDown() override { ::sched_setaffinity(0, sizeof(allowed_), &allowed_); }
  std::uint32_t core() const { return static_cast<std::uint32_t>(core_ + 1); }

 private:
  cpu_set_t allowed_{};
  int core_ = 0;
};

TEST_F(GivingWay, ConcernsThoseOfTheOwnCoreAlone) {
  control_block_.runsOn(0).store(core());
  EXPECT_EQ(looks(true), 1);
  EXPECT_EQ(control_block_.runsOn(1).load(), core()) << "others are to know where it is";
  control_block_.runsOn(0).store(core() + 1);
  EXPECT_EQ(looks(true), 0) << "the other comes without it";
}

TEST_F(GivingWay, IsForRanksThatOutnumberCores) {
  control_block_.runsOn(0).store(core());
  EXPECT_EQ(looks(false), 0);
  EXPECT_EQ(control_block_.runsOn(1).load(), 0U);
}

TEST_F(GivingWay, EndsThoughTheOtherNeverComes) {
  control_block_.runsOn(0).store(core());
  Waiter waits = waiter(true);
  waits.yieldCore(
      2, 1, [&](int) -> auto& { return word(); });
  waits.start(milliseconds(20));
  EXPECT_FALSE(waits.until(word(), 1, 0));
}

}  // namespace
}  // namespace popdist::shared
