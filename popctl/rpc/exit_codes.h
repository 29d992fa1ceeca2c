// SPDX-License-Identifier: Apache-2.0
// popctl's exit codes, of errors and of jobs (docs/reference/popctl.md).
#pragma once

#include <csignal>
#include <string>

#include "common/base/status.h"
#include "common/base/text.h"
#include "common/contract/exit_code.h"
#include "proto/popdist/v1/controller.pb.h"

namespace pop::popctl {

inline constexpr int kExitRefused = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotFound = 3;
inline constexpr int kExitUnavailable = 4;
inline constexpr int kExitPermission = 5;

inline int exitCodeOf(const Status& status) {
  switch (status.code()) {
    case Code::kOk:
      return 0;
    case Code::kNotFound:
      return kExitNotFound;
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
    case Code::kCancelled:
      return kExitUnavailable;
    case Code::kPermissionDenied:
      return kExitPermission;
    default:
      return kExitRefused;
  }
}

/// The same of an error about a job's records, of which a failed precondition is that their host is down.
inline int exitCodeOfRecords(const Status& status) {
  return status.code() == Code::kFailedPrecondition ? kExitUnavailable : exitCodeOf(status);
}

/// That of a job that has ended, as its poprun would have had it.
inline int exitCodeOf(const ::popdist::v1::JobInfo& job) {
  if (job.has_outcome()) return job.outcome().exit_code();
  if (job.end() == ::popdist::v1::END_SUCCEEDED) return 0;
  if (job.end() == ::popdist::v1::END_TIMED_OUT) return contract::kExitTimeout;
  if (job.end() == ::popdist::v1::END_CANCELLED) return contract::kExitSignalBase + SIGTERM;
  return contract::kExitLauncherFailed;
}

/// "job 12 was cancelled: by alice"; of a job that has ended.
inline std::string endText(const ::popdist::v1::JobInfo& job) {
  const char* how = " failed";
  if (job.end() == ::popdist::v1::END_SUCCEEDED) how = " succeeded";
  if (job.end() == ::popdist::v1::END_CANCELLED) how = " was cancelled";
  if (job.end() == ::popdist::v1::END_TIMED_OUT) how = " was ended by its time limit";
  if (job.end() == ::popdist::v1::END_LOST) how = " was lost";
  const std::string text = "job " + std::to_string(job.id()) + how;
  return job.reason().empty() ? text : text + ": " + printable(job.reason());
}

}  // namespace pop::popctl
