// SPDX-License-Identifier: Apache-2.0
// Learns what a model leaves out from measured runs: the times of a micro-batch, of the fixed part, and of
// collectives over GW-Links.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "pod/predict/runs_table.h"

namespace pop::pod::predict {

struct LearnedTime {
  std::string key;  ///< of the model file
  double seconds = 0;
  std::string rests_on;  ///< "3 runs with 2 numbers of slots"
};

struct Fit {
  Training training;  ///< the model with all that was learned
  std::vector<LearnedTime> learned;
  std::vector<std::string> remarks;
};

/// A run beside its prediction.
struct Comparison {
  MeasuredRun measured;
  Prediction predicted;

  double error() const { return predicted.seconds.all() / measured.step_s - 1; }
};

/// The times that `known` has not, with the least squares of relative errors of steps. gateway_time is
/// learned from runs on several IPU-Link domains alone, and stays missing without them. One that would be a
/// little below zero is 0, with a remark. kFailedPrecondition: the runs cannot tell the times apart, or
/// contradict the model; the message says which run is needed.
Result<Fit> fit(const Training& known, const std::vector<MeasuredRun>& runs,
                const CommunicationTime& communication);

/// `training` must have been fitted. Errors as predict().
Result<std::vector<Comparison>> compare(const Training& training, const std::vector<MeasuredRun>& runs,
                                        const CommunicationTime& communication);

}  // namespace pop::pod::predict
