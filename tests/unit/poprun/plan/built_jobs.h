// SPDX-License-Identifier: Apache-2.0
// Jobs as buildJob() makes them on host "node7".
#pragma once

#include <string>
#include <vector>

#include "poprun/plan/job_builder.h"

namespace pop::testing {

inline Options optionsFor(int instances) {
  Options options;
  options.programs.front().num_instances = instances;
  options.programs.front().command = {"./train", "--data", "/data"};
  return options;
}

inline BuiltJob built(const Options& options) {
  return buildJob(options, {"node7", [](const char*) -> const char* { return nullptr; }});
}

inline std::vector<std::string> mistakesOf(const Options& options) {
  return built(options).mistakes;
}

}  // namespace pop::testing
