// SPDX-License-Identifier: Apache-2.0
// Which of the things that happened decides a job's exit code: the user's signal, else the first failure as
// reported. What follows from our stopping the others never counts.
#pragma once

#include <optional>
#include <string>

#include "popdistd/controller/ports.h"

namespace pop {

/// The first failure of a job.
struct Failure {
  int instance = -1;   ///< -1: not an instance's
  pid_t pid = 0;       ///< 0: never started
  std::string reason;  ///< "was killed by SIGSEGV", "asked to end the job: …"
  int exit_code = 0;
};

struct JobOutcome {
  int exit_code = 0;
  int user_signal = 0;             ///< the signal with which the user ended the job, or 0
  std::optional<Failure> failure;  ///< what failed first, if anything did
};

class ExitPolicy {
 public:
  void noteFailure(Failure failure) {
    if (!failure_ && user_signal_ == 0) failure_ = std::move(failure);
  }
  void noteUserSignal(int signal) {
    if (user_signal_ == 0) user_signal_ = signal;
  }
  bool decided() const { return failure_.has_value() || user_signal_ != 0; }

  JobOutcome outcome() const {
    if (user_signal_ != 0) return {contract::kExitSignalBase + user_signal_, user_signal_, failure_};
    if (failure_) return {failure_->exit_code, 0, failure_};
    return {};
  }

 private:
  std::optional<Failure> failure_;
  int user_signal_ = 0;
};

}  // namespace pop
