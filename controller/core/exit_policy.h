// SPDX-License-Identifier: Apache-2.0
// Decides a job's exit code: by the user's signal, else by the time limit, else by the first failure
// reported. Instances that we stopped never count.
#pragma once

#include <optional>
#include <utility>

#include "common/ports/job_report.h"

namespace pop {

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
