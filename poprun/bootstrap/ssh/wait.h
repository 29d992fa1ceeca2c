// SPDX-License-Identifier: Apache-2.0
// Waiting for a descriptor with an end: a deadline of the host's own, which stands still while we do
// (Ctrl-Z), and a cancellation for all.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "common/base/status.h"
#include "common/sys/awake_clock.h"
#include "common/sys/fd.h"

namespace pop {

/// Set once, from any thread; ends every wait of all hosts.
class Cancellation {
 public:
  Cancellation();
  void cancel();
  bool cancelled() const;
  int fd() const { return event_.get(); }  ///< readable when cancelled

 private:
  sys::Fd event_;
};

/// The clock of one host in one stage. For the thread that makes it.
class Wait {
 public:
  using Clock = sys::AwakeClock;

  Wait(const Cancellation& cancellation, std::chrono::milliseconds limit)
      : cancellation_(cancellation), limit_(limit), deadline_(Clock::now() + limit) {}
  /// What is left of another thread's, whose clock means nothing to this one.
  Wait(const Wait& other, Clock::duration left)
      : cancellation_(other.cancellation_), limit_(other.limit_), deadline_(Clock::now() + left) {}

  /// Until `fd` has one of `events` (poll's). kDeadlineExceeded, kCancelled.
  Status forEvents(int fd, short events) const;
  /// A pause that ends early for the same reasons.
  Status pause(std::chrono::milliseconds duration) const;

  void restart() { deadline_ = Clock::now() + limit_; }
  void extend(Clock::duration by) { deadline_ += by; }  ///< the time was not the host's fault
  Clock::duration left() const { return deadline_ - Clock::now(); }
  std::chrono::milliseconds limit() const { return limit_; }
  const Cancellation& cancellation() const { return cancellation_; }

 private:
  const Cancellation& cancellation_;
  std::chrono::milliseconds limit_;
  Clock::time_point deadline_;
};

/// So many hosts at a time in the stage that costs our processors; the others wait without a clock running.
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
