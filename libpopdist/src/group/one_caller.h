// SPDX-License-Identifier: Apache-2.0
// Finds out that two threads call at once what carries out one call at a time. Nobody can tell then which
// call has met which of the other ranks, so that both callers get an error.
#pragma once

#include <atomic>

#include "common/base/status.h"

namespace popdist::group {

class OneCaller {
 public:
  /// False: another thread is inside.
  bool enter() {
    if (!is_inside_.exchange(true, std::memory_order_acquire)) [[likely]]
      return true;
    had_second_.store(true, std::memory_order_relaxed);
    return false;
  }
  void leave() { is_inside_.store(false, std::memory_order_release); }

  /// Another thread has come while one was inside, ever.
  bool hadSecond() const { return had_second_.load(std::memory_order_relaxed); }

  static pop::Status refusal() {
    return pop::failedPrecondition(
        "two threads of this process call it at once, and it carries out one call at a time: give each "
        "thread a "
        "communicator of its own (Context::createCommunicator), or call by name (AsyncCommunicator)");
  }

 private:
  std::atomic<bool> is_inside_{false};
  std::atomic<bool> had_second_{false};
};

}  // namespace popdist::group
