// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/shared/waiter.h"

#include <sched.h>

#include <algorithm>
#include <iterator>

#include "common/sys/cores.h"
#include "common/sys/futex.h"

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

// Where a rank waits is said for as long as it does: where it runs is not known to others.
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

}  // namespace

// From 1 on; 0: not known. The line is read by all, so it is written as rarely as can be.
std::uint32_t Waiter::publishCore() {
  const auto here = static_cast<std::uint32_t>(pop::sys::currentCore() + 1);
  std::atomic<std::uint32_t>& said = setting_.control_block.runsOn(setting_.rank);
  if (said.load(std::memory_order_relaxed) != here) said.store(here, std::memory_order_relaxed);
  return here;
}

// False: failure() says why not.
bool Waiter::mayStillCome(int whose) {
  if (!deadline_) deadline_ = Clock::now() + timeout_;
  return !hasFailed(whose);
}

// The system may leave two ranks on one core for long while others idle: each waits then for the other to
// have its turn. If each can have a core, the higher one goes.
void Waiter::yieldTo(int whose) {
  if (setting_.oversubscribed) {
    ::sched_yield();
    return;
  }
  // Said before the other has its turn, and looked at after it.
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

// False: it has not, and is about to.
bool Waiter::movedJustNow() {
  const auto now = std::chrono::steady_clock::now();
  if (moved_ && now - *moved_ < kBetweenMoves) return true;
  moved_ = now;
  return false;
}

// All that the job may use, once in a while. Whoever has bound this thread to fewer, be it poprun, a wrapper
// or the program itself, wants it there: none then.
std::vector<int> Waiter::coresToMoveTo() {
  if (setting_.host_cores < 2 || movedJustNow()) return {};
  const pop::Result<std::vector<int>> cores = pop::sys::usableCores();
  return cores.ok() && std::ssize(cores.value()) == setting_.host_cores ? cores.value() : std::vector<int>();
}

// The system may also leave all ranks on one core, for as long as they take turns there. Of a core that has
// more than its part, and two more than another one, the highest goes there.
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
  if ((load_here - 1) * setting_.host_cores < ranks) return;  // a fair part
  const std::vector<int> cores = coresToMoveTo();
  const auto least = std::ranges::min_element(cores, {}, load);
  if (least == cores.end() || load_here - load(*least) < 2) return;
  pop::sys::moveTo({*least});
  publishCore();
}

bool Waiter::untilSlow(const std::atomic<std::uint64_t>& word, std::uint64_t value, int whose) {
  const ScopedWaitsOn until_it_is_over(setting_.control_block.waitsOn(setting_.rank));
  for (int turn = 0;; ++turn) {
    if (word.load(std::memory_order_acquire) >= value) return true;
    if (!mayStillCome(whose)) {
      // What the other has done before its end counts.
      return word.load(std::memory_order_acquire) >= value;
    }
    if (turn < transport::kYields)
      yieldTo(whose);
    else
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

// A death first: it is the reason why somebody else gives up.
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

// Who gives up says so before its caller has its buffers back.
bool Waiter::peerIsAborting() {
  std::atomic<std::uint32_t>& raised = setting_.control_block.abortFlag().raised;
  std::atomic_thread_fence(std::memory_order_acquire);  // what was read in others' memory before this look
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
