// SPDX-License-Identifier: Apache-2.0
// Starts the keeper's processes in the order of the requests: one at a time on the keeper's own thread, and
// with a second thread when several are waiting. Starting processes dominates the launch of a large job; two
// threads are a third faster than one, and more do not help.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "agent/keeper/spawn.h"
#include "common/sys/fd.h"

namespace pop::keeper {

class Spawner {
 public:
  struct Started {
    int instance = 0;
    std::uint64_t serial = 0;  ///< position in the order of beginning, from 0
    SpawnResult result;
  };

  Spawner();

  /// `descriptors`: those that `order` names, kept open until the process has started.
  void enqueue(int instance, SpawnOrder order, std::vector<sys::Fd> descriptors);

  /// Starts the next process on this thread; false if none is waiting.
  bool startNext();

  /// Returns the processes started, by either thread, since the last call.
  std::vector<Started> takeStarted();

  /// The number of starts that have begun so far. A child that is reaped now belongs to one of them.
  std::uint64_t begun();

  /// Starts nothing more; returns when no start is in progress.
  void stop();

  /// Readable when the second thread has started a process.
  int readyFd() const { return ready_.get(); }

 private:
  struct Waiting {
    int instance = 0;
    std::uint64_t serial = 0;
    SpawnOrder order;
    std::vector<sys::Fd> descriptors;
  };

  bool take(Waiting& next);
  void start(const Waiting& waiting);
  [[noreturn]] void help();

  std::mutex mutex_;  ///< guards all below but ready_
  std::condition_variable work_;
  std::condition_variable finished_;
  std::deque<Waiting> waiting_;
  std::vector<Started> started_;
  std::uint64_t begun_ = 0;
  std::uint64_t ended_ = 0;
  bool stopped_ = false;
  bool has_helper_ = false;
  sys::Fd ready_;  ///< eventfd
};

}  // namespace pop::keeper
