// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/shared/waiter.h"

#include <sched.h>

#include <algorithm>
#include <iterator>

#include "common/sys/cores.h"
#include "common/sys/futex.h"
#include "libpopdist/collectives/messages/exec/short_wait.h"

namespace popdist::shared {

template <typename There>
void Waiter::sleepUnless(const There& there, std::chrono::milliseconds limit) {
  FutexWord& futex_word = setting_.control_block.futexWord();
  futex_word.num_sleeping.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t wake_count = futex_word.wake_count.load(std::memory_order_seq_cst);
  if (!there()) pop::sys::futexWait(futex_word.wake_count, wake_count, limit);
  futex_word.num_sleeping.fetch_sub(1, std::memory_order_seq_cst);
}

namespace {

// Publishes the core on which a rank waits, for as long as it waits. The core of a running rank is not known
// to others.
class ScopedWaitsOn {
 public:
  explicit ScopedWaitsOn(std::atomic<std::uint32_t>& waits_on) : waits_on_(waits_on) {}
  ~ScopedWaitsOn() {
    if (waits_on_.load(std::memory_order_relaxed) != 0) waits_on_.store(0, std::memory_order_relaxed);
  }
  ScopedWaitsOn(const ScopedWaitsOn&) = delete;
  ScopedWaitsOn& operator=(const ScopedWaitsOn&) = delete;

 private:
  std::atomic<std::uint32_t>& waits_on_;
};

/// Others see that this rank waits until then.
class ScopedWatch {
 public:
  explicit ScopedWatch(exec::PeerMonitor& monitor) : monitor_(monitor) {}
  ~ScopedWatch() { monitor_.over(); }
  ScopedWatch(const ScopedWatch&) = delete;
  ScopedWatch& operator=(const ScopedWatch&) = delete;

 private:
  exec::PeerMonitor& monitor_;
};

}  // namespace

// Returns the core, counted from 1; 0: unknown. All ranks read the published value, so it is written only
// when it changes.
std::uint32_t Waiter::publishCore() {
  const auto here = static_cast<std::uint32_t>(pop::sys::currentCore() + 1);
  std::atomic<std::uint32_t>& said = setting_.control_block.runsOn(setting_.rank);
  if (said.load(std::memory_order_relaxed) != here) said.store(here, std::memory_order_relaxed);
  return here;
}

// False: failure() says why.
bool Waiter::mayStillCome(int whose) {
  if (!deadline_) deadline_ = Clock::now() + timeout_;
  return !hasFailed(whose);
}

// The kernel may leave two ranks on one core for long while other cores idle: each then waits for the other
// to run. If every rank can have a core, the one with the higher number moves.
void Waiter::yieldTo(int whose) {
  if (setting_.oversubscribed) {
    ::sched_yield();
    return;
  }
  // Published before the other rank runs, and read after that.
  const auto here = static_cast<std::uint32_t>(pop::sys::currentCore() + 1);
  setting_.control_block.waitsOn(setting_.rank).store(here, std::memory_order_relaxed);
  ::sched_yield();
  if (here == 0 || setting_.rank < whose ||
      setting_.control_block.waitsOn(whose).load(std::memory_order_relaxed) != here)
    return;
  std::vector<int> others = coresToMoveTo();
  std::erase(others, static_cast<int>(here) - 1);
  pop::sys::moveTo(others);
}

// Returns whether the thread has moved within kBetweenMoves. If not, it counts as moved from now on.
bool Waiter::movedJustNow() {
  const auto now = std::chrono::steady_clock::now();
  if (moved_ && now - *moved_ < kBetweenMoves) return true;
  moved_ = now;
  return false;
}

// All cores that the job may use, at most once every kBetweenMoves. If poprun, a wrapper or the program has
// bound this thread to fewer, it stays there: the list is then empty.
std::vector<int> Waiter::coresToMoveTo() {
  if (setting_.host_cores < 2 || movedJustNow()) return {};
  const pop::Result<std::vector<int>> cores = pop::sys::usableCores();
  return cores.ok() && std::ssize(cores.value()) == setting_.host_cores ? cores.value() : std::vector<int>();
}

// The kernel may also leave all ranks on one core for as long as they take turns there. If a core has more
// than its share, and two ranks more than another core, its highest rank moves to that one.
void Waiter::spread(int ranks, std::uint32_t here) {
  until_spread_ = kBetweenSpreads;
  const auto runsOn = [this](int rank) {
    return setting_.control_block.runsOn(rank).load(std::memory_order_relaxed);
  };
  const auto load = [&](int core) {
    int running = 0;
    for (int rank = 0; rank < ranks; ++rank)
      running += runsOn(rank) == static_cast<std::uint32_t>(core + 1) ? 1 : 0;
    return running;
  };
  for (int rank = setting_.rank + 1; rank < ranks; ++rank) {
    if (runsOn(rank) == here) return;
  }
  const int load_here = load(static_cast<int>(here) - 1);
  if ((load_here - 1) * setting_.host_cores < ranks) return;  // a fair share
  const std::vector<int> cores = coresToMoveTo();
  const auto least = std::ranges::min_element(cores, {}, load);
  if (least == cores.end() || load_here - load(*least) < 2) return;
  pop::sys::moveTo({*least});
  publishCore();
}

// The caller may have asked to end the wait. Another rank that is in no hurry may wait for this one, in
// another call.
bool Waiter::isInVain(int whose) {
  auto found = setting_.monitor->cancelled();
  if (!found && timeout_ >= exec::kShortWait) {
    std::vector<int> awaited = setting_.absent();
    awaited.push_back(whose);
    found = setting_.monitor->elsewhere(awaited);
  }
  if (found) failure_ = {.status = {found->code, found->text}, .peer_instance = found->instance};
  return found.has_value();
}

bool Waiter::hasFailedFarAway(int turn) {
  if (!peer_failure_ || (turn - transport::kYields) % kBetweenFarLooks != kBetweenFarLooks - 1) return false;
  std::optional<exec::Failure> failure = peer_failure_();
  if (failure) failure_ = std::move(*failure);
  return failure.has_value();
}

bool Waiter::untilSlow(const std::atomic<std::uint64_t>& word, std::uint64_t value, int whose) {
  const ScopedWaitsOn until_it_is_over(setting_.control_block.waitsOn(setting_.rank));
  const ScopedWatch until_it_has_come(*setting_.monitor);
  for (int turn = 0;; ++turn) {
    if (word.load(std::memory_order_acquire) >= value) return true;
    if (!mayStillCome(whose)) {
      // The other rank's work before its end counts.
      return word.load(std::memory_order_acquire) >= value;
    }
    if (turn < transport::kYields) {
      yieldTo(whose);
      continue;
    }
    if (isInVain(whose) || hasFailedFarAway(turn)) return false;
    sleepUnless([&] { return word.load(std::memory_order_seq_cst) >= value; }, transport::kLongestSleep);
  }
}

void Waiter::idle(const std::function<bool()>& there, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (int turn = 0; !there(); ++turn) {
    if (turn < transport::kYields) {
      ::sched_yield();
      continue;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    sleepUnless(there, left);
  }
}

void Waiter::wakeAll() {
  FutexWord& futex_word = setting_.control_block.futexWord();
  futex_word.wake_count.fetch_add(1, std::memory_order_seq_cst);
  pop::sys::futexWakeAll(futex_word.wake_count);
}

// An ended instance comes first: it is why other ranks abort.
bool Waiter::hasFailed(int whose) {
  if (setting_.monitor->anyEnded()) {
    std::vector<int> missed = setting_.absent();
    missed.push_back(whose);
    if (const auto loss = setting_.monitor->loss(missed)) {
      failure_ = {.status = pop::unavailable(loss->text), .peer_instance = loss->instance};
      return true;
    }
  }
  if (peerAborted()) return true;
  if (Clock::now() < (moving_deadline_ ? moving_deadline_() : *deadline_)) return false;
  failure_ = {.status = {pop::Code::kDeadlineExceeded,
                         exec::describeDeadline(exec::nameOfRank(setting_.names, setting_.first_rank + whose),
                                                setting_.describe(whose))},
              .peer_rank = setting_.first_rank + whose};
  return true;
}

bool Waiter::peerAborted() {
  if (setting_.control_block.abortFlag().raised.load(std::memory_order_acquire) != 2) return false;
  failure_ = failureFromFlag();
  return true;
}

// A rank raises the abort flag before its caller gets its buffers back.
bool Waiter::peerIsAborting() {
  std::atomic<std::uint32_t>& raised = setting_.control_block.abortFlag().raised;
  std::atomic_thread_fence(
      std::memory_order_acquire);  // orders reads of other ranks' memory before this check
  if (raised.load(std::memory_order_acquire) == 0) [[likely]]
    return false;
  lose(setting_.rank, pop::unavailable("another rank aborted the call without giving a reason"));
  return true;
}

void Waiter::lose(int whose, const pop::Status& why) {
  const auto now = Clock::now();
  if (!deadline_) deadline_ = now + timeout_;
  const auto end = now + exec::kEndNoticeTimeout;
  while (!hasFailed(whose)) {
    if (Clock::now() >= end) {
      failure_ = {.status = why, .peer_rank = setting_.first_rank + whose};
      return;
    }
    sleepUnless([] { return false; }, transport::kLongestSleep);
  }
}

exec::Failure Waiter::failureFromFlag() const {
  const AbortFlag& abort_flag = setting_.control_block.abortFlag();
  const bool blames_another =
      abort_flag.blamed_rank >= 0 && abort_flag.blamed_rank != setting_.first_rank + setting_.rank;
  const std::string who =
      abort_flag.heard != 0 ? "" : "rank " + std::to_string(abort_flag.rank) + " aborted the call: ";
  return {.status = {static_cast<pop::Code>(abort_flag.code), who + abort_flag.text.data()},
          .peer_instance = abort_flag.instance,
          .peer_rank = blames_another ? abort_flag.blamed_rank : abort_flag.rank,
          .heard = true};
}

}  // namespace popdist::shared
