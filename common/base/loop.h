// SPDX-License-Identifier: Apache-2.0
// The event loop's interface for pure code. All state of a component is touched only from its loop's thread.
// common/os/epoll_loop.h is the real loop; tests use a fake one with virtual time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace pop {

using Clock = std::chrono::steady_clock;
enum class TimerId : std::uint64_t {};

class Loop {
 public:
  virtual ~Loop() = default;

  /// Runs `task` later on the loop's thread, after everything posted before it. From any thread.
  virtual void post(std::function<void()> task) = 0;

  /// Runs `task` once, at least `delay` from now. Call it from the loop's thread, like everything else here.
  virtual TimerId postAfter(std::chrono::milliseconds delay, std::function<void()> task) = 0;
  virtual void cancel(TimerId timer) = 0;  ///< Ignored if the timer has fired already.
  virtual Clock::time_point now() const = 0;
};

}  // namespace pop
