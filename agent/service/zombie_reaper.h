// SPDX-License-Identifier: Apache-2.0
// Processes that were killed and are not gone yet. One that waits for a file server goes when that answers,
// and one that is traced is shown to its tracer before its parent. Who serves others waits for neither.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <vector>

#include "common/base/loop.h"

namespace pop::agent {

/// On the loop's thread.
class ZombieReaper {
 public:
  /// `loop` outlives it.
  explicit ZombieReaper(Loop& loop) : loop_(loop) {}
  ~ZombieReaper();  ///< what is left is init's
  ZombieReaper(const ZombieReaper&) = delete;
  ZombieReaper& operator=(const ZombieReaper&) = delete;

  /// A child of ours that was sent SIGKILL: it is reaped as soon as may be. Nobody else waits for it.
  void add(pid_t pid);

  int count() const { return static_cast<int>(pids_.size()); }

 private:
  void reap();
  void lookLater(std::chrono::milliseconds delay);

  Loop& loop_;
  std::vector<pid_t> pids_;
  std::chrono::milliseconds delay_{0};
  std::optional<TimerId> timer_;
};

}  // namespace pop::agent
