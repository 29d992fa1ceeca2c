// SPDX-License-Identifier: Apache-2.0
// A real loop on a thread of its own, for tests whose own thread is a client that blocks.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "common/os/epoll_loop.h"

namespace pop::testing {

class LoopThread {
 public:
  LoopThread() : thread_([this] { loop_.run(); }) {}
  ~LoopThread() {
    loop_.stop();
    thread_.join();
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  os::EpollLoop& loop() { return loop_; }

  /// Runs `task` on the loop, and returns what it returns.
  template <typename Task>
  auto run(Task&& task) -> decltype(task()) {
    std::packaged_task<decltype(task())()> packaged(std::forward<Task>(task));
    auto result = packaged.get_future();
    loop_.post([&packaged] { packaged(); });
    return result.get();
  }

  /// Looks at `done`, on the loop, until it holds; false after longer than any machine needs.
  bool until(const std::function<bool()>& done) {
    const Clock::time_point deadline = Clock::now() + std::chrono::seconds(20);
    while (Clock::now() < deadline) {
      if (run(done)) return true;
      std::this_thread::yield();
    }
    return false;
  }

 private:
  os::EpollLoop loop_;
  std::thread thread_;
};

}  // namespace pop::testing
