// SPDX-License-Identifier: Apache-2.0
// The options of bench_training.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::bench {

struct TrainingOptions {
  int epochs = 10;
  int rounds = 5;
  std::vector<std::string> only;  // contestants; empty: all
  std::chrono::milliseconds quiet_timeout{10'000};
  std::chrono::milliseconds time_limit{300'000};  // of one run
  bool help = false;
};

/// kInvalidArgument names what is wrong with the command line.
Result<TrainingOptions> parseTrainingOptions(int argc, const char* const* argv);
std::string trainingHelp();

}  // namespace pop::bench
