// SPDX-License-Identifier: Apache-2.0
// Finds out that two threads call at once what carries out one call at a time. It is then unknown which call
// has met which of the other ranks, so that both callers get an error.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "common/base/status.h"
#include "libpopdist/collectives/context/sole_thread.h"

namespace popdist::group {

class OneCaller {
 public:
  /// False: another thread is inside.
  bool enter() {
    sole_.enter();
    const Inside so_far = inside_.exchange(Inside::kCaller, std::memory_order_acquire);
    if (so_far == Inside::kNobody) [[likely]]
      return true;
    if (so_far == Inside::kBetweenCalls) return awaitBetweenCalls();
    had_second_.store(true, std::memory_order_relaxed);
    return false;
  }
  void leave() { inside_.store(Inside::kNobody, std::memory_order_release); }

  /// Runs `body`, which waits for nothing, between calls: a call that comes waits for it. Returns what it
  /// does, or false if a call is under way.
  template <typename Body>
  bool betweenCalls(const Body& body) {
    is_between_.store(true, std::memory_order_relaxed);
    Inside expected = Inside::kNobody;
    const bool is_free =
        inside_.compare_exchange_strong(expected, Inside::kBetweenCalls, std::memory_order_acq_rel);
    const bool result = is_free && body();
    expected = Inside::kBetweenCalls;
    if (is_free) inside_.compare_exchange_strong(expected, Inside::kNobody, std::memory_order_acq_rel);
    is_between_.store(false, std::memory_order_release);
    return result;
  }

  /// No thread but this one has ever called; if none has, this one has made it.
  bool isAlone() const { return sole_.isThis(); }

  /// Another thread has come while one was inside, ever.
  bool hadSecond() const { return had_second_.load(std::memory_order_relaxed); }

  static pop::Status refusal() {
    return pop::failedPrecondition(
        "two threads of this process call it at once, and it carries out one call at a time: give each "
        "thread a communicator of its own (Context::createCommunicator), or call by name "
        "(AsyncCommunicator)");
  }

 private:
  enum class Inside : std::uint8_t { kNobody, kCaller, kBetweenCalls };

  bool awaitBetweenCalls() const {
    while (is_between_.load(std::memory_order_acquire)) ::sched_yield();
    return true;
  }

  context::SoleThread sole_;
  std::atomic<Inside> inside_{Inside::kNobody};
  std::atomic<bool> is_between_{false};  // betweenCalls() runs
  std::atomic<bool> had_second_{false};
};

}  // namespace popdist::group
