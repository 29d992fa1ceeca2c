// SPDX-License-Identifier: Apache-2.0
// Whether a job that has failed is started again.
#pragma once

#include <string>

#include "popdistd/controller/exit_policy.h"

namespace pop {

class RestartPolicy {
 public:
  explicit RestartPolicy(int max_restarts) : max_restarts_(max_restarts) {}

  /// True when the job should run again. Not when its user ended it, when its time limit has expired, or when
  /// the program cannot even be started or a host that goes on has lost it: that would fail again. A host
  /// that is lost is left out.
  bool wants(const JobOutcome& outcome) const {
    return outcome.failure && mayHelp(*outcome.failure) && outcome.user_signal == 0 && !outcome.timed_out &&
           restarts_ < max_restarts_;
  }

  /// Of a job that would have been started again after another failure: why not after this one. Else empty.
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
