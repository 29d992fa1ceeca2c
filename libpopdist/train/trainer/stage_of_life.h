// SPDX-License-Identifier: Apache-2.0
// Calls that a trainer allows: before its parameters have values, after, and after a run that has failed.
#pragma once

#include "common/base/status.h"

namespace popdist::train {

class StageOfLife {
 public:
  /// While it lives, a run goes on. Where it is not told to be done(), that run has failed.
  class Run {
   public:
    explicit Run(StageOfLife& life) : life_(life) { life_.failed_ = life_.runs_ = true; }
    ~Run() { life_.runs_ = false; }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    void done() { life_.failed_ = false; }

   private:
    StageOfLife& life_;
  };

  void haveValues() { has_values_ = true; }

  /// kFailedPrecondition within a run, and after one that has failed.
  pop::Status status() const {
    if (runs_)
      return pop::failedPrecondition(
          "this trainer is in a run: its step, or what that calls, cannot ask for this; call it when the run "
          "has "
          "returned");
    if (!failed_) return {};
    return pop::failedPrecondition(
        "an earlier run has failed, so that only the parameters can be asked for: make a new strategy and "
        "trainer, or session, and go on from what was saved");
  }
  /// kFailedPrecondition where there are no parameters yet.
  pop::Status statusOfValues() const {
    if (has_values_) return {};
    return pop::failedPrecondition(
        "the parameters have no values: call initialise(), resume() or load() first, or set them by "
        "parametersOf()");
  }

 private:
  bool has_values_ = false;
  bool failed_ = false;
  bool runs_ = false;
};

}  // namespace popdist::train
