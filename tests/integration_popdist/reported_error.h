// SPDX-License-Identifier: Apache-2.0
// Runs of the popdist child under poprun, and the errors that it reports.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "tests/testing/poprun_process.h"

namespace pop::testing {

/// poprun with `instances` of the child.
PoprunSetup childSetup(int instances, const std::vector<std::string>& command);

struct ReportedError {
  int code = 0;
  int peer = -1;
  std::chrono::steady_clock::time_point at;
  std::string what;
};

/// What each instance has reported so far, by its index (from the tag of the line).
std::map<int, ReportedError> reportedErrors(const std::string& out);

// popdist::ErrorCode's numbers
inline constexpr int kDeadlineExceededCode = 4;
inline constexpr int kAlreadyExistsCode = 6;
inline constexpr int kFailedPreconditionCode = 9;
inline constexpr int kUnavailableCode = 14;

}  // namespace pop::testing
