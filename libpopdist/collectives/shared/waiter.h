// SPDX-License-Identifier: Apache-2.0
// Waits for words of other ranks in a control block, as docs/adr/0006 describes. Every wait has a deadline
// and ends early if an instance has ended or a rank has aborted.
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
#include "libpopdist/collectives/messages/exec/executor.h"
#include "libpopdist/collectives/messages/exec/peer_monitor.h"
#include "libpopdist/collectives/messages/transport/waiting_limits.h"
#include "libpopdist/collectives/shared/control_block.h"

namespace popdist::shared {

class Waiter {
 public:
  /// `describe(rank)` returns, for error texts, the call that the rank is in or has not entered.
  struct Setting {
    ControlBlock control_block;
    int rank = 0;
    int first_rank = 0;  ///< number that other ranks use for rank 0 here, for error texts
    exec::PeerMonitor* monitor = nullptr;
    bool oversubscribed = true;  ///< this host's instances outnumber its cores
    int host_cores = 0;  ///< cores that the job may use; a thread that is bound to fewer stays where it is
    bool has_all_of_host = true;  ///< the control block's ranks are all instances of this host
    std::function<std::string(int rank)> describe;
    std::function<std::vector<int>()>
        absent;  ///< ranks that have not entered the call: it cannot end without them
    exec::RankNames names{};
  };

  explicit Waiter(Setting setting)
      : setting_(std::move(setting)),
        max_spins_(setting_.oversubscribed ? kSpinsBesideOthers : transport::kMaxSpins),
        spins_(max_spins_) {}

  /// Begins a call that may wait for `timeout`.
  void start(std::chrono::milliseconds timeout) {
    timeout_ = timeout;
    deadline_.reset();
    if (spins_ == 0) spins_ = max_spins_;
  }

  /// For the rest of the call: where ranks share cores, yield at once instead of spinning first.
  void yieldAtOnce() {
    if (setting_.oversubscribed) spins_ = 0;
  }

  /// From now on calls wait until this deadline instead of for their own timeouts; empty: for their timeouts
  /// again.
  void setDeadline(exec::MovingDeadline deadline) { moving_deadline_ = std::move(deadline); }

  /// Called now and then in a long wait: the failure of a peer that is known by other means. May be empty.
  using PeerFailure = std::function<std::optional<exec::Failure>()>;
  void setPeerFailure(PeerFailure peer_failure) { peer_failure_ = std::move(peer_failure); }

  /// Waits until `word` of rank `whose` is at least `value`. False: it never will be; failure() says why.
  bool until(const std::atomic<std::uint64_t>& word, std::uint64_t value, int whose) {
    for (int turn = 0; turn <= spins_; ++turn) {
      if (word.load(std::memory_order_acquire) >= value) {
        if (spins_ < max_spins_) spins_ = std::min(2 * spins_, max_spins_);
        return true;
      }
      pop::sys::relax();
    }
    // The other rank may be waiting for this core; next time yield sooner.
    spins_ = std::min(spins_, kMinSpins);
    return untilSlow(word, value, whose);
  }

  /// Call before waiting for the words `word_of(rank)` of all other ranks. Where ranks share cores, lets
  /// those on this core that are behind run first. Ranks that are still missing then are on other cores and
  /// come soon.
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

  /// Between calls: returns when `there()` is true or `limit` has passed. `there()` is called again after
  /// each wakeSleepers().
  void idle(const std::function<bool()>& there, std::chrono::milliseconds limit);

  /// Call after changing a word of this rank: wakes the ranks that wait for it. From any thread.
  void wakeSleepers() {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // the word is written before num_sleeping is read
    if (setting_.control_block.futexWord().num_sleeping.load(std::memory_order_relaxed) > 0) [[unlikely]]
      wakeAll();
  }

  /// True if a rank has aborted; if so, failure() says which and why.
  bool peerAborted();
  /// The failure of a rank that has aborted, if any. Also between calls.
  std::optional<exec::Failure> peerFailure() {
    return peerAborted() ? std::optional(failure_) : std::nullopt;
  }
  /// As peerAborted(), also for ranks that are about to raise the flag. False: what was read in their memory
  /// so far is valid.
  bool peerIsAborting();

  /// Records that a rank cannot be reached. failure() is then the rank's end, if its end notice arrives soon,
  /// otherwise `why`.
  void lose(int whose, const pop::Status& why);

  const exec::Failure& failure() const { return failure_; }

 private:
  using Clock = pop::sys::AwakeClock;

  static constexpr int kMinSpins = 64;
  static constexpr int kSpinsBesideOthers = 100;  // no longer than a context switch takes
  static constexpr int kBetweenFarLooks = 5;      // turns that sleep
  static constexpr int kTurnsUnseen = 3;          // reading the clock costs a tenth of a turn
  static constexpr int kBetweenSpreads =
      16;  // counted in waits: reading all ranks' cores costs as much as some waits
  static constexpr std::chrono::milliseconds kBetweenMoves{10};  // a move costs some 50 us and may not help

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
  bool isInVain(int whose);
  bool hasFailedFarAway(int turn);
  bool hasFailed(int whose);
  exec::Failure failureFromFlag() const;

  Setting setting_;
  const int max_spins_;
  int spins_;                                                   ///< reduced while spinning does not help
  std::optional<std::chrono::steady_clock::time_point> moved_;  ///< when the thread moved last
  int until_spread_ = kBetweenSpreads;                          ///< waits
  std::chrono::milliseconds timeout_{0};
  std::optional<Clock::time_point> deadline_;  ///< set once the call has had to wait
  exec::MovingDeadline moving_deadline_;
  PeerFailure peer_failure_;
  exec::Failure failure_;
};

}  // namespace popdist::shared
