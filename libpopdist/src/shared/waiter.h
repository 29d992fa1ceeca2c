// SPDX-License-Identifier: Apache-2.0
// Waits for the words of other ranks in a board: as docs/adr/0006 says, and never without a deadline or an
// ear for those who have died or given up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "libpopdist/src/exec/executor.h"
#include "libpopdist/src/exec/peer_monitor.h"
#include "libpopdist/src/shared/board.h"

namespace popdist::shared {

class Waiter {
 public:
  /// `describe(rank)`: what that rank is in, or has not come to, for people.
  struct Setting {
    Board board;
    int rank = 0;
    exec::PeerMonitor* monitor = nullptr;
    bool a_core_each = false;  ///< the ranks of this host do not outnumber its cores
    std::function<std::string(int rank)> describe;
  };

  explicit Waiter(Setting setting)
      : setting_(std::move(setting)), spins_(setting_.a_core_each ? kSpins : 0) {}

  /// A call begins; it may wait for so long.
  void start(std::chrono::milliseconds timeout) {
    timeout_ = timeout;
    deadline_.reset();
  }

  /// True when `word`, of rank `whose`, is at least `value`; false: failure() says why it never will be.
  bool until(const std::atomic<std::uint64_t>& word, std::uint64_t value, int whose) {
    for (int turn = 0; turn <= spins_; ++turn) {
      if (word.load(std::memory_order_acquire) >= value) return true;
      __builtin_ia32_pause();
    }
    return patiently(word, value, whose);
  }

  /// After a word of our own has changed: wakes those who wait for it.
  void tell() {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // the word before the look at the sleepers
    if (setting_.board.bell().sleepers.load(std::memory_order_relaxed) > 0) [[unlikely]]
      ring();
  }

  /// True: failure() says who, and why.
  bool othersHaveGivenUp();

  const exec::Failure& failure() const { return failure_; }

 private:
  static constexpr int kSpins = 2000;  // about 20 us
  static constexpr int kYields = 200;
  // Nobody rings for a peer's death or a deadline.
  static constexpr std::chrono::milliseconds kLongestSleep{20};

  bool patiently(const std::atomic<std::uint64_t>& word, std::uint64_t value, int whose);
  void sleep(const std::atomic<std::uint64_t>& word, std::uint64_t value);
  void ring();
  bool hopeless(int whose);
  exec::Failure surrendered() const;

  Setting setting_;
  const int spins_;
  std::chrono::milliseconds timeout_{0};
  std::optional<std::chrono::steady_clock::time_point>
      deadline_;  ///< once somebody has been waited for in earnest
  exec::Failure failure_;
};

}  // namespace popdist::shared
