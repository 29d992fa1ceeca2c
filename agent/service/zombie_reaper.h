// SPDX-License-Identifier: Apache-2.0
// Reaps killed processes that have not ended yet. A process that waits for a file server ends when the server
// answers, and a traced process is reported to its tracer before its parent. The service must not block for
// either.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <vector>

#include "common/base/loop.h"

namespace pop::agent {

/// Lives on the loop's thread.
class ZombieReaper {
 public:
  /// `loop` outlives this object.
  explicit ZombieReaper(Loop& loop) : loop_(loop) {}
  ~ZombieReaper();  ///< what is left is init's
  ZombieReaper(const ZombieReaper&) = delete;
  ZombieReaper& operator=(const ZombieReaper&) = delete;

  /// Takes a child of this process that was sent SIGKILL, and reaps it as soon as possible. Nobody else waits
  /// for it.
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
