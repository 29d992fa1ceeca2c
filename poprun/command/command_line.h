// SPDX-License-Identifier: Apache-2.0
// Common to poprun's commands: how they were started, what they use of their environment, and how they report
// mistakes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "poprun/cli/option_files.h"
#include "poprun/cli/parse.h"
#include "poprun/command/programs.h"
#include "poprun/plan/job_builder.h"
#include "poprun/session/job_session.h"

namespace pop {

/// The start of poprun: its own name, its arguments, and the files read for them.
struct CommandLine {
  std::string name;
  std::vector<std::string> arguments;
  cli::OptionFiles files;
};

/// A program's functions besides jobs on this host; each function returns poprun's exit code.
struct HostsHalf {
  Program program = Program::kPoprun;
  int (*run)(const Options& options, const model::JobSpec& spec, const SessionSettings& settings) = nullptr;
  int (*examine)(const Options& options, const model::JobSpec& spec) = nullptr;
  int (*on_jobs)(const Options& options) = nullptr;  ///< commands on detached jobs
  /// A job with a runner. `hosts` is null for a job on this host.
  int (*detach)(const Options& options, const model::JobSpec& spec, const SessionSettings& settings,
                const HostsHalf* hosts) = nullptr;
  /// Hands a job to popdistd.
  int (*submit)(const Options& options, const model::JobSpec& spec) = nullptr;
  /// Runs a job in the V-IPU partition that it asks for. See withPartition().
  int (*with_partition)(const model::JobSpec& spec, bool verbose,
                        const std::function<int(const model::JobSpec&)>& run) = nullptr;
};

/// Replaces this process by the program of ours that has what is needed, if this one, with `half`, has not:
/// then poprun's exit code, on failure. Nothing: it has.
std::optional<int> handOver(const Needs& needs, const HostsHalf* half, const CommandLine& line);

/// The working directory; empty if it has been removed: no relative path can be found then.
std::string workingDirectory();

/// `files` must outlive the result.
Surroundings surroundings(cli::OptionFiles& files);

/// The job, with the mistakes and warnings of the command line as well.
BuiltJob buildFor(const cli::ParsedOptions& parsed, const Options& options, const Surroundings& here);

/// Sets the log level by -v and --debug.
void setLogLevel(const Options& options);

void reportWarnings(const std::vector<std::string>& warnings);

/// Prints the mistakes on stderr and returns their exit code.
int reportMistakes(const std::vector<std::string>& mistakes);

/// Prints text on stdout, or the error on stderr; returns poprun's exit code.
int print(const std::string& text);

}  // namespace pop
