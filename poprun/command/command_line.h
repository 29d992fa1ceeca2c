// SPDX-License-Identifier: Apache-2.0
// What poprun's commands have in common: how they were started, what they take of their surroundings, and how
// they tell mistakes.
#pragma once

#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "poprun/cli/option_files.h"
#include "poprun/cli/parse.h"
#include "poprun/plan/job_builder.h"
#include "poprun/session/job_session.h"

namespace pop {

/// How poprun was started: its own name, its arguments, and what of the files that they name has been read.
struct CommandLine {
  std::string name;
  std::vector<std::string> arguments;
  cli::OptionFiles files;
};

/// What needs other hosts; each gives poprun's exit code.
struct HostsHalf {
  int (*run)(const Options& options, const model::JobSpec& spec, const SessionSettings& settings) = nullptr;
  int (*examine)(const Options& options, const model::JobSpec& spec) = nullptr;
  bool by_service_only = false;  ///< only hosts that the agent service is asked for
};

/// Whether `hosts`, which may be null, reaches hosts in the way that the options want.
bool canReach(const HostsHalf* hosts, const Options& options);

/// Starts the program that can, in place of this one. Returns poprun's exit code, only when it could not.
int handOver(const Options& options, const CommandLine& line);

/// Empty when it has been removed: relative paths are found nowhere then.
std::string workingDirectory();

/// `files` outlives what is returned.
Surroundings surroundings(cli::OptionFiles& files);

/// The job, with the mistakes and warnings of the command line as well.
BuiltJob buildFor(const cli::ParsedOptions& parsed, const Options& options, const Surroundings& here);

/// As -v and --debug say it.
void setLogLevel(const Options& options);

void reportWarnings(const std::vector<std::string>& warnings);

/// On stderr; the exit code for that.
int reportMistakes(const std::vector<std::string>& mistakes);

/// Text on stdout, or why it could not be written; poprun's exit code.
int print(const std::string& text);

}  // namespace pop
