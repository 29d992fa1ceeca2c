// SPDX-License-Identifier: Apache-2.0
// Waits for a descriptor until a deadline of one host, whose clock stops while poprun is stopped (Ctrl-Z), or
// until cancellation, which is shared by all hosts.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "common/base/status.h"
#include "common/sys/awake_clock.h"
#include "common/sys/fd.h"

namespace pop {

/// Cancels all waits of all hosts. Set once, from any thread.
class Cancellation {
 public:
  Cancellation();
  void cancel();
  bool cancelled() const;
  int fd() const { return event_.get(); }  ///< readable when cancelled

 private:
  sys::Fd event_;
};

/// The time limit of one host in one stage. Used only by the thread that creates it.
class Wait {
 public:
  using Clock = sys::AwakeClock;

  Wait(const Cancellation& cancellation, std::chrono::milliseconds limit)
      : cancellation_(cancellation), limit_(limit), deadline_(Clock::now() + limit) {}
  /// Takes over the remaining time of another thread's Wait.
  Wait(const Wait& other, Clock::duration left)
      : cancellation_(other.cancellation_), limit_(other.limit_), deadline_(Clock::now() + left) {}

  /// Waits until `fd` has one of `events` (as for poll). kDeadlineExceeded, kCancelled.
  Status forEvents(int fd, short events) const;
  /// Pauses; ends early for the same reasons.
  Status pause(std::chrono::milliseconds duration) const;

  void restart() { deadline_ = Clock::now() + limit_; }
  void extend(Clock::duration by) { deadline_ += by; }  ///< for time that the host did not cause
  Clock::duration left() const { return deadline_ - Clock::now(); }
  std::chrono::milliseconds limit() const { return limit_; }
  const Cancellation& cancellation() const { return cancellation_; }

 private:
  const Cancellation& cancellation_;
  std::chrono::milliseconds limit_;
  Clock::time_point deadline_;
};

/// Limits how many hosts at a time are in the stage that is expensive for our processors; the time limits of
/// the others do not run.
class Slots {
 public:
  explicit Slots(int count) : free_(count) {}
  bool acquire();  ///< false when cancelled
  void release();
  void cancel();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int free_;
  bool cancelled_ = false;
};

}  // namespace pop
