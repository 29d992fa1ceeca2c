// SPDX-License-Identifier: Apache-2.0
// Finds out that two threads call at once what carries out one call at a time. Nobody can tell then which
// call has met which of the other ranks, so that both callers get an error.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdint>

#include "common/base/status.h"

namespace popdist::group {

class OneCaller {
 public:
  /// False: another thread is inside.
  bool enter() {
    const std::uintptr_t self = thisThread();
    const std::uintptr_t so_far = sole_.load(std::memory_order_relaxed);
    if (so_far != self && so_far != kSeveral) [[unlikely]]
      sole_.store(so_far == 0 ? self : kSeveral, std::memory_order_relaxed);
    const Inside so_far_inside = inside_.exchange(Inside::kCaller, std::memory_order_acquire);
    if (so_far_inside == Inside::kNobody) [[likely]]
      return true;
    if (so_far_inside == Inside::kBetweenCalls) return awaitBetweenCalls();
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
  bool isAlone() const {
    const std::uintptr_t sole = sole_.load(std::memory_order_relaxed);
    return (sole == 0 ? maker_ : sole) == thisThread();
  }

  /// Another thread has come while one was inside, ever.
  bool hadSecond() const { return had_second_.load(std::memory_order_relaxed); }

  static pop::Status refusal() {
    return pop::failedPrecondition(
        "two threads of this process call it at once, and it carries out one call at a time: give each "
        "thread a communicator of its own (Context::createCommunicator), or call by name "
        "(AsyncCommunicator)");
  }

 private:
  static constexpr std::uintptr_t kSeveral = 1;

  enum class Inside : std::uint8_t { kNobody, kCaller, kBetweenCalls };

  bool awaitBetweenCalls() const {
    while (is_between_.load(std::memory_order_acquire)) ::sched_yield();
    return true;
  }

  static std::uintptr_t thisThread() { return static_cast<std::uintptr_t>(::pthread_self()); }

  const std::uintptr_t maker_ = thisThread();
  std::atomic<std::uintptr_t> sole_{0};  // the thread that has called
  std::atomic<Inside> inside_{Inside::kNobody};
  std::atomic<bool> is_between_{false};  // betweenCalls() runs
  std::atomic<bool> had_second_{false};
};

}  // namespace popdist::group
