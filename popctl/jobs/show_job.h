// SPDX-License-Identifier: Apache-2.0
// Shows a job of popdistd as poprun shows one of its own: output, summary, exit code.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "popctl/command.h"
#include "popctl/rpc/controller_client.h"
#include "poprun/plan/settings.h"

namespace pop::popctl {

/// poprun's options about output. kInvalidArgument: others are among `words`.
Result<Options> outputOptions(const std::vector<std::string>& words);

/// The known part of a job's specification.
Result<model::JobSpec> shownSpec(const v1::JobInfo& job);

struct Showing {
  bool controls = false;     ///< Ctrl-C and Ctrl-Z are for the job
  bool follows = true;       ///< until it ends
  bool exits_as_job = true;  ///< else with 0
  std::uint64_t from_sequence = 0;
  std::optional<std::chrono::milliseconds> timeout;  ///< of all of it
};

/// Returns the exit code. Call it once in a process.
int showJob(ControllerClient& client, const v1::JobInfo& job, const model::JobSpec& spec,
            const Options& output, const Showing& showing);

/// `popctl attach job` and `popctl logs job`.
int attachJob(const Command& command, ControllerClient& client);
int logsJob(const Command& command, ControllerClient& client);

}  // namespace pop::popctl
