// SPDX-License-Identifier: Apache-2.0
// Drives a real loop until something has happened. No sleeps: the condition is looked at after every event.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "common/os/epoll_loop.h"

namespace pop::testing {

/// Runs `loop` until `done` holds, and fails the test when that takes longer than any machine needs.
inline void runUntil(os::EpollLoop& loop, const std::function<bool()>& done) {
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(20);
  const std::function<void()> look = [&] {
    if (done()) return loop.stop();
    if (Clock::now() > deadline) {
      ADD_FAILURE() << "what the test waits for does not happen";
      return loop.stop();
    }
    loop.post(look);
  };
  loop.post(look);
  loop.run();
}

/// Gives `loop` ample occasion to do what it should not do.
inline void runIdle(os::EpollLoop& loop) {
  int rounds = 0;
  runUntil(loop, [&rounds] { return ++rounds > 200; });
}

}  // namespace pop::testing
