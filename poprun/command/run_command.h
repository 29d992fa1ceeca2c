// SPDX-License-Identifier: Apache-2.0
// poprun without a command name: plans a job, and shows, exports or runs it.
#pragma once

#include <optional>

#include "poprun/cli/compat_table.h"
#include "poprun/command/command_line.h"

namespace pop {

/// Returns poprun's exit code. `hosts` may be null: then a job that needs other hosts is handed to a program
/// that has one.
int runCommand(CommandLine& line, cli::Spelling spelling, const HostsHalf* hosts);

// Its parts, for popctl, which makes jobs of the same options. An exit code: nothing is left to do.

/// --help, --version and --scaling-report.
std::optional<int> withoutJob(const cli::ParsedOptions& parsed);

/// The job that the command line describes, with all mistakes in it. With --export-config it needs no
/// program.
BuiltJob jobToRun(const cli::ParsedOptions& parsed, const Surroundings& here);

/// Reports warnings and mistakes, and carries out what needs no more than the plan: --export-config,
/// --dry-run.
std::optional<int> endsWithPlan(const Options& options, const BuiltJob& job);

}  // namespace pop
