// SPDX-License-Identifier: Apache-2.0
// Options with their values as text, from the command line, a configuration file, or both merged. Reading
// them fills the settings.
#pragma once

#include <string>
#include <vector>

#include "poprun/cli/option_table.h"

namespace pop::cli {

struct Assignment {
  const OptionRow* row;
  std::string value;
};

struct Assignments {
  struct Program {
    std::vector<Assignment> options;
    std::vector<std::string> command;
  };
  std::vector<Assignment> job;
  std::vector<Program> programs{{}};  ///< at least one
  /// Options for all programs; each of `programs` also contains them, in order.
  std::vector<Assignment> every_program;
};

/// Merges `line` over `file`: an option set in both has the value of `line`. A command in `line` replaces the
/// program of `file`. It is a mistake if `line` has options for a program but names none, and `file` has
/// several.
Assignments override(Assignments file, Assignments line, std::vector<std::string>& mistakes);

/// Fills `options`, which must hold the defaults. An option without effect gives a warning.
void apply(const Assignments& assignments, Options& options, std::vector<std::string>& mistakes,
           std::vector<std::string>& warnings);

}  // namespace pop::cli
