// SPDX-License-Identifier: Apache-2.0
// The event loop as pure code sees it. All state of a component is touched only from its loop's thread.
// common/os/epoll_loop.h is the real one; tests drive a fake one with virtual time.
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

  /// Runs `task` once, at least `delay` from now. From the loop's thread, like all the rest.
  virtual TimerId postAfter(std::chrono::milliseconds delay, std::function<void()> task) = 0;
  virtual void cancel(TimerId timer) = 0;  ///< A timer that has fired already is ignored.
  virtual Clock::time_point now() const = 0;
};

}  // namespace pop
