// SPDX-License-Identifier: Apache-2.0
// Runs of the popdist child under poprun, and the errors that it reports.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "tests/testing/poprun_process.h"

namespace pop::testing {

/// Seconds for `--kill-grace`: enough for every instance to report its error. Not for ever, since
/// the leak checker stops a process that exits by SIGSTOP, and where poprun's SIGCONT undoes that, both wait
/// for the other.
inline constexpr const char* kGraceToReport = "10";

/// poprun with `instances` of the child.
PoprunSetup childSetup(int instances, const std::vector<std::string>& command);

struct ReportedError {
  int code = 0;
  int peer = -1;
  std::chrono::steady_clock::time_point at;
  std::string what;
};

/// The errors that instances have reported so far, by their index (from the tag of the line).
std::map<int, ReportedError> reportedErrors(const std::string& out);

/// From an instance's death to the errors of all others: a second in the campaign that measures it on a quiet
/// machine (POPDIST_KILL_ROUNDS, docs/dev/testing.md), more where other tests run.
Milliseconds timeToHearOfADeath();

// popdist::ErrorCode's numbers
inline constexpr int kDeadlineExceededCode = 4;
inline constexpr int kAlreadyExistsCode = 6;
inline constexpr int kPermissionDeniedCode = 7;
inline constexpr int kResourceExhaustedCode = 8;
inline constexpr int kFailedPreconditionCode = 9;
inline constexpr int kUnavailableCode = 14;

}  // namespace pop::testing
