// SPDX-License-Identifier: Apache-2.0
// The list of detached jobs, for people and for scripts.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "runner/store/job_directory.h"

namespace pop {

struct ListedJob {
  runner::JobEntry entry;
  std::optional<int> exit_code;  ///< of a job that has ended
  /// The words of each program; empty: what was submitted cannot be read.
  std::vector<std::vector<std::string>> programs;
};

/// One line for each job, and one above them; "no detached jobs" if there is none.
std::string jobsTable(const std::vector<ListedJob>& jobs, std::chrono::system_clock::time_point now);

/// An array of objects: id, name, state, exit_code, begun, ended, programs, directory. What is not known, or
/// not yet, is null.
std::string jobsJson(const std::vector<ListedJob>& jobs);

}  // namespace pop
