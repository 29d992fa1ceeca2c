// SPDX-License-Identifier: Apache-2.0
// Settings about detached jobs: of a job that becomes one, and of commands on those that run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/status.h"

namespace pop {

/// Fate of a job when the terminal of its poprun hangs up.
enum class OnHangup : std::uint8_t { kStop, kDetach };

/// A detached job: "7", "train"; of another host: "h1:7".
struct JobAddress {
  std::string host;  ///< "h1", "me@h1:2222"; empty: this host
  std::string job;   ///< its number or its name; empty: all jobs

  friend bool operator==(const JobAddress&, const JobAddress&) = default;
};

/// kInvalidArgument: `text` is not "ID" or "HOST:ID".
Result<JobAddress> parseJobAddress(std::string_view text);

/// kInvalidArgument: `text` is not "HOST:".
Result<JobAddress> parseJobsHost(std::string_view text);

struct DetachedOptions {
  bool detach = false;
  std::string name;  ///< of the job; may be empty
  std::int64_t log_limit_bytes = 64 << 20;
  OnHangup on_hangup = OnHangup::kStop;

  // Commands: at most one of them is given.
  std::optional<JobAddress> attach;
  std::optional<JobAddress> jobs;
  std::optional<JobAddress> logs;
  std::optional<JobAddress> cancel;
  bool control = false;  ///< with attach: Ctrl-C and Ctrl-Z are for the job
  bool json = false;     ///< with jobs
  bool follow = false;   ///< with logs

  friend bool operator==(const DetachedOptions&, const DetachedOptions&) = default;
};

/// True if the job gets a runner, a process that may outlive its poprun.
bool hasRunner(const DetachedOptions& options);

/// True if this is a command on detached jobs, and not a job.
bool isJobCommand(const DetachedOptions& options);

}  // namespace pop
