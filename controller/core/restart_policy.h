// SPDX-License-Identifier: Apache-2.0
// Decides whether a failed job is restarted.
#pragma once

#include <string>

#include "controller/core/exit_policy.h"

namespace pop {

class RestartPolicy {
 public:
  explicit RestartPolicy(int max_restarts) : max_restarts_(max_restarts) {}

  /// True if the job should be restarted. False if the user ended it, if its time limit has expired, if the
  /// program cannot be started, or if a host that is still there has lost its instances: a restart would fail
  /// again. Lost hosts are left out of the restart.
  bool wants(const JobOutcome& outcome) const {
    return outcome.failure && mayHelp(*outcome.failure) && outcome.user_signal == 0 && !outcome.timed_out &&
           restarts_ < max_restarts_;
  }

  /// Why this failure prevents a restart that another failure would have caused. Otherwise empty.
  std::string whyNot(const JobOutcome& outcome) const {
    const bool its_own = outcome.failure && outcome.user_signal == 0 && !outcome.timed_out;
    if (!its_own || restarts_ >= max_restarts_ || mayHelp(*outcome.failure)) return {};
    return outcome.failure->pid == 0 ? "a restart would fail the same way"
                                     : "its host can no longer start processes";
  }

  void noteRestart() { ++restarts_; }
  int restarts() const { return restarts_; }

 private:
  static bool mayHelp(const Failure& failure) {
    return failure.hosts_lost || (failure.pid != 0 && !failure.lost);
  }

  const int max_restarts_;
  int restarts_ = 0;
};

}  // namespace pop
