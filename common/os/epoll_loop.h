// SPDX-License-Identifier: Apache-2.0
// The real event loop: implements Loop on epoll, and watches descriptors and signals. docs/adr/0015 says why
// this is not a library's.
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
  void stop();  ///< From any thread. If called before run(), run() returns at once.

  void post(std::function<void()> task) override;

  /// Runs `task` once before the loop next waits, after all tasks posted meanwhile: for work that should be
  /// done once for several events that arrive together. From the loop's thread.
  void postLast(std::function<void()> task);

  /// Runs `task` in each turn, before anything else that the turn brings. From the loop's thread.
  void beginTurnsWith(std::function<void()> task);

  TimerId postAfter(std::chrono::milliseconds delay, std::function<void()> task) override;
  void cancel(TimerId timer) override;
  Clock::time_point now() const override { return Clock::now(); }

  /// Calls `ready` whenever `fd` is readable or at its end, until unwatch(fd). One watch of each kind per fd.
  /// Descriptors that epoll does not support, such as files, are always ready.
  void watchReadable(int fd, std::function<void()> ready);
  void watchWritable(int fd, std::function<void()> ready);
  void unwatchReadable(int fd);
  void unwatchWritable(int fd);

  /// Removes all watches of `fd`. Call it before closing the descriptor: a child that has not yet executed
  /// may keep the open file alive, and a stale registration would go on reporting it.
  void unwatch(int fd);

  /// Delays all running timers by `duration`, after a time in which this process was stopped.
  void extendTimers(Clock::duration duration);
  /// A clock that leaves out such time, as timers do.
  Clock::time_point timerTime() const;

  /// Calls `received` for each of `signals` that this process gets. Once in a process at a time.
  void watchSignals(const std::vector<int>& signals, std::function<void(const Signal&)> received);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pop::os
