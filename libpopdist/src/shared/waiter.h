// SPDX-License-Identifier: Apache-2.0
// Waits for the words of other ranks in a control block: as docs/adr/0006 says, and never without a deadline
// or an ear for those who have died or given up.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/sys/awake_clock.h"
#include "common/sys/cores.h"
#include "common/sys/relax.h"
#include "libpopdist/src/exec/executor.h"
#include "libpopdist/src/exec/peer_monitor.h"
#include "libpopdist/src/shared/control_block.h"
#include "libpopdist/src/transport/waiting_limits.h"

namespace popdist::shared {

class Waiter {
 public:
  /// `describe(rank)`: what that rank is in, or has not come to, for people.
  struct Setting {
    ControlBlock control_block;
    int rank = 0;
    int first_rank = 0;  ///< what others call rank 0 here: failures speak of those numbers
    exec::PeerMonitor* monitor = nullptr;
    bool oversubscribed = true;   ///< this host's instances outnumber its cores
    int host_cores = 0;           ///< that the job may use; a thread that may use fewer stays where it is
    bool has_all_of_host = true;  ///< the control block's ranks are all instances of this host
    std::function<std::string(int rank)> describe;
    std::function<std::vector<int>()>
        absent;  ///< ranks that have not come to the call: nobody can do without them
    exec::RankNames names{};
  };

  explicit Waiter(Setting setting)
      : setting_(std::move(setting)),
        max_spins_(setting_.oversubscribed ? kSpinsBesideOthers : transport::kMaxSpins),
        spins_(max_spins_) {}

  /// A call begins; it may wait for so long.
  void start(std::chrono::milliseconds timeout) {
    timeout_ = timeout;
    deadline_.reset();
    if (spins_ == 0) spins_ = max_spins_;
  }

  /// For the rest of the call: where ranks share cores, they do not look for what others have not done yet
  /// before they give way.
  void yieldAtOnce() {
    if (setting_.oversubscribed) spins_ = 0;
  }

  /// From now on calls wait until then, and not for their own timeouts; empty: for those again.
  void setDeadline(exec::MovingDeadline deadline) { moving_deadline_ = std::move(deadline); }

  /// True when `word`, of rank `whose`, is at least `value`; false: failure() says why it never will be.
  bool until(const std::atomic<std::uint64_t>& word, std::uint64_t value, int whose) {
    for (int turn = 0; turn <= spins_; ++turn) {
      if (word.load(std::memory_order_acquire) >= value) {
        if (spins_ < max_spins_) spins_ = std::min(2 * spins_, max_spins_);
        return true;
      }
      pop::sys::relax();
    }
    // Perhaps the other waits for this core: the next time it gets it sooner.
    spins_ = std::min(spins_, kMinSpins);
    return untilSlow(word, value, whose);
  }

  /// Before waiting for the words of all others, `word_of(rank)`: where ranks share cores, those of this
  /// one's that are behind have their turns. Who is missing then is on another core, and comes soon.
  template <typename WordOf>
  void yieldCore(int ranks, std::uint64_t value, const WordOf& word_of) {
    if (!setting_.oversubscribed) return;
    const std::uint32_t here = publishCore();
    if (here == 0) return;
    if (setting_.has_all_of_host && --until_spread_ == 0) spread(ranks, here);
    const auto is_behind_here = [&](int rank) {
      return rank != setting_.rank &&
             setting_.control_block.runsOn(rank).load(std::memory_order_relaxed) == here &&
             word_of(rank).load(std::memory_order_relaxed) < value;
    };
    int turns = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      for (; turns < ranks - 1 && is_behind_here(rank); ++turns) {
        if (turns >= kTurnsUnseen && !mayStillCome(rank)) return;
        ::sched_yield();
      }
    }
  }

  /// Between calls: returns when `there()` is true, which is asked again whenever somebody tells something,
  /// or when `limit` has passed.
  void idle(const std::function<bool()>& there, std::chrono::milliseconds limit);

  /// After a word of our own has changed: wakes those who wait for it. From any thread.
  void wakeSleepers() {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // the word is written before num_sleeping is read
    if (setting_.control_block.futexWord().num_sleeping.load(std::memory_order_relaxed) > 0) [[unlikely]]
      wakeAll();
  }

  /// True: failure() says who, and why.
  bool peerAborted();
  /// Why, if one has. Also between calls.
  std::optional<exec::Failure> peerFailure() {
    return peerAborted() ? std::optional(failure_) : std::nullopt;
  }
  /// The same, also of those who are about to say so. False: what they had before is what was seen of it
  /// until now.
  bool peerIsAborting();

  /// A rank cannot be reached: failure() says why, which is its end if that is heard of soon, else `why`.
  void lose(int whose, const pop::Status& why);

  const exec::Failure& failure() const { return failure_; }

 private:
  using Clock = pop::sys::AwakeClock;

  static constexpr int kMinSpins = 64;
  static constexpr int kSpinsBesideOthers = 100;  // no longer than a change of rank takes
  static constexpr int kTurnsUnseen = 3;          // a look at the clock costs a tenth of one
  static constexpr int kBetweenSpreads = 16;  // waits: to see who runs where costs as much as some of them
  static constexpr std::chrono::milliseconds kBetweenMoves{10};  // one costs some 50 us, and may not help

  std::uint32_t publishCore();
  void spread(int ranks, std::uint32_t here);
  bool movedJustNow();
  std::vector<int> coresToMoveTo();
  bool mayStillCome(int whose);
  bool untilSlow(const std::atomic<std::uint64_t>& word, std::uint64_t value, int whose);
  void yieldTo(int whose);
  template <typename There>
  void sleepUnless(const There& there, std::chrono::milliseconds limit);
  void wakeAll();
  bool hasFailed(int whose);
  exec::Failure failureFromFlag() const;

  Setting setting_;
  const int max_spins_;
  int spins_;                                                   ///< fewer while they do not help
  std::optional<std::chrono::steady_clock::time_point> moved_;  ///< when it changed its core last
  int until_spread_ = kBetweenSpreads;                          ///< waits
  std::chrono::milliseconds timeout_{0};
  std::optional<Clock::time_point> deadline_;  ///< once somebody has been waited for in earnest
  exec::MovingDeadline moving_deadline_;
  exec::Failure failure_;
};

}  // namespace popdist::shared
