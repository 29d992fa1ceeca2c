// SPDX-License-Identifier: Apache-2.0
// Which of the things that happened decides a job's exit code: the user's signal, else its time limit, else
// the first failure as reported. What follows from our stopping the others never counts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/loop.h"
#include "common/ports/agent_port.h"

namespace pop {

/// The first failure of a job.
struct Failure {
  int instance = -1;   ///< -1: not an instance's
  pid_t pid = 0;       ///< 0: never started
  std::string reason;  ///< "was killed by SIGSEGV", "asked to end the job: …"
  int exit_code = 0;
  bool lost = false;  ///< the instance did not end by itself: its host cannot go on
  std::string host;   ///< the instance's
  /// Hosts were lost, or could not be reached: `reason` names them all, and is a sentence of its own.
  bool hosts_lost = false;
  int instances_lost = 0;  ///< with their hosts
  Clock::time_point at;    ///< when the controller learnt of it
};

struct JobOutcome {
  int exit_code = 0;
  int user_signal = 0;                   ///< the signal with which the user ended the job, or 0
  bool timed_out = false;                ///< its time limit ended it
  std::optional<Failure> failure;        ///< what failed first, if anything did
  std::string why_not_again;             ///< why it was not started again, when it was to be
  int restarts = 0;                      ///< how often the job had been started again
  int instances_stopped = 0;             ///< that were still running when the end was decided by another
  int hosts_unanswered = 0;              ///< when the time limit came before anything could start
  std::vector<StackTrace> stack_traces;  ///< where instances were when the time was over, if asked for
};

class ExitPolicy {
 public:
  void noteFailure(Failure failure) {
    if (!decided()) failure_ = std::move(failure);
  }
  void noteUserSignal(int signal) {
    if (user_signal_ == 0) user_signal_ = signal;
  }
  void noteTimeout() {
    if (!decided()) timed_out_ = true;
  }
  bool decided() const { return failure_.has_value() || user_signal_ != 0 || timed_out_; }

  JobOutcome outcome() const {
    JobOutcome outcome{.user_signal = user_signal_, .timed_out = timed_out_, .failure = failure_};
    if (user_signal_ != 0) {
      outcome.exit_code = contract::kExitSignalBase + user_signal_;
    } else if (timed_out_) {
      outcome.exit_code = contract::kExitTimeout;
    } else if (failure_) {
      outcome.exit_code = failure_->exit_code;
    }
    return outcome;
  }

 private:
  std::optional<Failure> failure_;
  int user_signal_ = 0;
  bool timed_out_ = false;
};

}  // namespace pop
