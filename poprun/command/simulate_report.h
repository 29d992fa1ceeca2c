// SPDX-License-Identifier: Apache-2.0
// Predictions for people and programs.
#pragma once

#include <string>
#include <vector>

#include "pod/predict/fit.h"
#include "pod/predict/sweep.h"

namespace pop {

struct RunBesidePrediction {
  pod::predict::Comparison run;
  bool is_held_out = false;  ///< its times were not learned from it
};

struct Simulation {
  pod::predict::Fit fit;  ///< the training; nothing learned: the model had all of it
  std::vector<RunBesidePrediction> runs;
  pod::predict::Sweep sweep;
  std::vector<std::string> remarks;
};

/// Tables of Markdown that read well in a terminal.
std::string simulationText(const Simulation& simulation);

/// The same numbers as one JSON object, in seconds and samples.
std::string simulationJson(const Simulation& simulation);

/// Throughput against replicas: measured, predicted and ideal.
std::string simulationSvg(const Simulation& simulation);

/// The model file with all that was learned, and the runs behind it as comments.
std::string fittedModelText(const Simulation& simulation);

}  // namespace pop
