// SPDX-License-Identifier: Apache-2.0
// Decides how a job ends: its exit code, and whether it is restarted.
#pragma once

#include <string>
#include <utility>

#include "common/base/status.h"
#include "controller/core/exit_policy.h"
#include "controller/core/restart_policy.h"

namespace pop {

class JobEnd {
 public:
  explicit JobEnd(int max_restarts) : restart_policy_(max_restarts) {}

  void noteFailure(Failure failure) { exit_policy_.noteFailure(std::move(failure)); }
  void noteUserSignal(int signal) { exit_policy_.noteUserSignal(signal); }
  /// The time limit has expired; it covers all attempts together.
  void noteTimeout() {
    time_is_over_ = true;
    exit_policy_.noteTimeout();
  }
  /// The job's output cannot be written, so a restart would fail the same way.
  void noteOutputLost() { output_is_lost_ = true; }
  /// Why the job is not restarted after all, although a restart was decided.
  void noteWhyNotAgain(std::string why) { why_not_again_ = std::move(why); }

  bool decided() const { return exit_policy_.decided(); }
  bool isByLostHosts() const {
    const JobOutcome outcome = exit_policy_.outcome();
    return outcome.failure && outcome.failure->hosts_lost;
  }

  /// True if the job restarts now that an attempt is over. `rest`: whether it can run on the remaining
  /// hosts.
  bool startsAgain(const Status& rest) {
    if (time_is_over_) return false;
    if (!restart_policy_.wants(outcome())) {
      if (why_not_again_.empty()) why_not_again_ = restart_policy_.whyNot(outcome());
      return false;
    }
    if (output_is_lost_) why_not_again_ = "its output cannot be written";
    if (!output_is_lost_ && !rest.ok()) why_not_again_ = rest.message();
    return !output_is_lost_ && rest.ok();
  }

  int restarts() const { return restart_policy_.restarts(); }
  void countRestart() { restart_policy_.noteRestart(); }
  void beginAnew() { exit_policy_ = {}; }

  JobOutcome outcome() const {
    JobOutcome outcome = exit_policy_.outcome();
    outcome.restarts = restarts();
    outcome.why_not_again = why_not_again_;
    return outcome;
  }

 private:
  ExitPolicy exit_policy_;
  RestartPolicy restart_policy_;
  std::string why_not_again_;
  bool time_is_over_ = false;
  bool output_is_lost_ = false;
};

}  // namespace pop
