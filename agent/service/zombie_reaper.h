// SPDX-License-Identifier: Apache-2.0
// Remains of jobs that end. Reaps killed processes that have not ended yet: a process that waits for a
// file server ends when the server answers, and a traced process is reported to its tracer before its parent.
// Ends what has escaped a job's keeper, which the job can stop and kill. The service must not block for any
// of them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/service/job_cgroups.h"
#include "common/base/loop.h"

namespace pop::agent {

/// A service's hold on the processes of its jobs.
struct JobHolds {
  JobCgroups* cgroups = nullptr;  ///< null: jobs have none; outlives who uses it
  /// Children that a child subreaper had before it ran jobs: others that it has not started are orphans of
  /// jobs. None: it is no subreaper.
  std::optional<std::set<pid_t>> older = std::nullopt;
};

/// Lives on the loop's thread.
class ZombieReaper {
 public:
  /// `loop` outlives this object.
  explicit ZombieReaper(Loop& loop, JobHolds holds = {}) : loop_(loop), holds_(holds) {}
  ~ZombieReaper();  ///< leaves the rest to init
  ZombieReaper(const ZombieReaper&) = delete;
  ZombieReaper& operator=(const ZombieReaper&) = delete;

  /// Takes a child of this process that was sent SIGKILL, and reaps it as soon as possible. Nobody else waits
  /// for it.
  void add(pid_t pid);

  /// For a new process of a job; empty: jobs have none.
  Result<std::string> newCgroup() {
    return holds_.cgroups == nullptr ? std::string() : holds_.cgroups->add();
  }

  /// Calls `empty`, from the loop, when nothing is left of a job whose process has ended, or was killed. Its
  /// keeper has a moment to end the rest; then that is killed. Removes the cgroup. `process`: what add() was
  /// given for it; -1: it was reaped.
  void clear(std::string cgroup, pid_t process, std::function<void()> empty);

  int count() const { return static_cast<int>(pids_.size()); }

 private:
  struct Leaving {
    std::string cgroup;
    pid_t process;
    Clock::time_point kill_at;
    std::function<void()> empty;
  };

  void look();
  bool isEmpty(const Leaving& leaving) const;
  bool isAwaited(pid_t process) const;
  void lookLater(std::chrono::milliseconds delay);

  Loop& loop_;
  const JobHolds holds_;
  std::vector<pid_t> pids_;
  std::vector<Leaving> leaving_;
  std::chrono::milliseconds delay_{0};
  std::optional<TimerId> timer_;
};

}  // namespace pop::agent
