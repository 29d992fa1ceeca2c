// SPDX-License-Identifier: Apache-2.0
// Options with their values as text, from wherever they come: the command line, a configuration file, or one
// over the other. Reading them fills the settings.
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
  /// What is said of all programs; each of `programs` has it at its place, too.
  std::vector<Assignment> every_program;
};

/// `line` over `file`: what both set has the value of `line`. A command in `line` replaces the program of
/// `file`. A mistake: `line` says something of a program, names none, and `file` has several.
Assignments override(Assignments file, Assignments line, std::vector<std::string>& mistakes);

/// Fills `options`, which has its defaults so far. What is without effect is a warning.
void apply(const Assignments& assignments, Options& options, std::vector<std::string>& mistakes,
           std::vector<std::string>& warnings);

}  // namespace pop::cli
