// SPDX-License-Identifier: Apache-2.0
// The command line of popdist-algorithms.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "libpopdist/collectives/plan/operation.h"

namespace popdist::algorithms {

inline constexpr const char* kProgram = "popdist-algorithms";

struct Options {
  std::vector<plan::Operation> operations;  ///< all unless told otherwise
  std::vector<std::size_t> bytes;
  int repeats = 15;  ///< number of measurements; each time is their median
};

struct Parsed {
  Options options;
  std::optional<int> exit_code;  ///< nothing to measure: `text` is help (0) or an error
  std::string text;
};

Parsed parseOptions(int argc, const char* const* argv);

}  // namespace popdist::algorithms
