// SPDX-License-Identifier: Apache-2.0
// The real event loop: the Loop interface on epoll, plus readiness of descriptors and signals. Why not a
// library's: docs/adr/0015.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "common/base/loop.h"
#include "common/os/signal_pipe.h"

namespace pop::os {

class EpollLoop final : public Loop {
 public:
  EpollLoop();
  ~EpollLoop() override;

  /// Runs until stop(). The calling thread is the loop's thread.
  void run();
  void stop();  ///< From any thread. Before run(): that one returns at once.

  void post(std::function<void()> task) override;

  /// Runs `task` once before the loop waits again, after all that is posted meanwhile: for what should be
  /// done once for everything that happens together. From the loop's thread.
  void postLast(std::function<void()> task);

  TimerId postAfter(std::chrono::milliseconds delay, std::function<void()> task) override;
  void cancel(TimerId timer) override;
  Clock::time_point now() const override { return Clock::now(); }

  /// Calls `ready` whenever `fd` is readable (or at its end), until unwatch(fd). One watch of each kind per
  /// fd. What epoll does not know, such as a file, is always ready.
  void watchReadable(int fd, std::function<void()> ready);
  void watchWritable(int fd, std::function<void()> ready);
  void unwatchReadable(int fd);
  void unwatchWritable(int fd);

  /// Forgets `fd` altogether. Must come before the descriptor is closed: a child that has not yet executed
  /// may keep its open file alive, and a stale registration would go on reporting it.
  void unwatch(int fd);

  /// All timers that run fire `duration` later than they would have: for time in which nothing could happen,
  /// because this process was stopped.
  void extendTimers(Clock::duration duration);
  /// A clock that stands still for such time, as timers do.
  Clock::time_point timerTime() const;

  /// Calls `received` for each of `signals` that arrives at this process. Once in a process at a time.
  void watchSignals(const std::vector<int>& signals, std::function<void(const Signal&)> received);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pop::os
