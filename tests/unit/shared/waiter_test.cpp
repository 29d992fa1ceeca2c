// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/shared/waiter.h"

#include <gtest/gtest.h>

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

// Two ranks' board; the test is rank 0, and rank 1 waits for it.
class WaitingRank : public ::testing::Test {
 protected:
  static constexpr milliseconds kPatience{20'000};

  Waiter waiter(bool a_core_each) {
    return Waiter({.board = board_,
                   .rank = 1,
                   .monitor = &monitor_,
                   .a_core_each = a_core_each,
                   .describe = [](int) { return std::string("absent"); },
                   .absent = [] { return std::vector<int>(); }});
  }
  std::atomic<std::uint64_t>& word() const { return board_.counter(0, plan::Counter::kDone); }

  // The core on which rank 1 waits, from 1 on, as soon as it waits on one but `not_this`.
  std::uint32_t whereItWaits(const std::stop_token& stop, std::uint32_t not_this = 0) const {
    for (;;) {
      const std::uint32_t core = board_.waitsOn(1).load();
      if (stop.stop_requested() || (core != 0 && core != not_this)) return core;
      std::this_thread::yield();
    }
  }

 private:
  struct alignas(4096) Memory {
    std::array<std::byte, 64 << 10> bytes{};
  };
  const std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  NobodyEnds monitor_;

 protected:
  const Board board_{memory_->bytes.data(), 2, 4096};
};

TEST_F(WaitingRank, LeavesTheCoreOnWhichTheOtherSaysThatItWaits) {
  // The word comes once rank 1 has been elsewhere.
  std::jthread other([this](const std::stop_token& stop) {
    const std::uint32_t first = whereItWaits(stop);
    board_.waitsOn(0).store(first);
    whereItWaits(stop, first);
    word().store(1);
  });
  Waiter waits = waiter(true);
  for (int turn = 0; word().load() == 0; ++turn) {
    waits.start(milliseconds(20));
    static_cast<void>(waits.until(word(), 1, 0));
    ASSERT_LT(turn, kPatience / milliseconds(20)) << "it stays";
  }
  other.join();
  EXPECT_EQ(board_.waitsOn(1).load(), 0U) << "it waits no more";
}

TEST_F(WaitingRank, StaysWhereRanksOutnumberCores) {
  board_.waitsOn(0).store(static_cast<std::uint32_t>(pop::sys::currentCore() + 1));
  Waiter waits = waiter(false);
  waits.start(milliseconds(20));
  EXPECT_FALSE(waits.until(word(), 1, 0));
  EXPECT_EQ(board_.waitsOn(1).load(), 0U) << "nor is it said where";
}

}  // namespace
}  // namespace popdist::shared
