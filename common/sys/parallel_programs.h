// SPDX-License-Identifier: Apache-2.0
// Many helper programs at once, so many at a time, heard while they run.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"

namespace pop::sys {

struct ProgramEnd {
  /// kNotFound and the like: it could not be started; kDeadlineExceeded: it was killed in the end;
  /// kCancelled: a signal came first.
  Status status;
  int exit_code = -1;  ///< when it ended by itself
  std::string errors;  ///< what it wrote to stderr
};

/// What programs do meanwhile, by their index.
struct ProgramEvents {
  std::function<void(std::size_t index)> started;
  std::function<void(std::size_t index, std::string_view text)> printed;  ///< on stdout
  std::function<void(std::size_t index, const ProgramEnd& end)> ended;
};

/// What a program may take that is not to be hurried: a year.
inline constexpr std::chrono::milliseconds kForEver = std::chrono::hours(365 * 24);

/// Runs all of `commands` to their ends, or kills them when their timeout is over, and returns how each
/// ended. SIGINT, SIGTERM and SIGHUP, unless ignored, kill what runs and start nothing more; they are
/// delivered after that, to do what they would have done.
std::vector<ProgramEnd> runInParallel(const std::vector<std::vector<std::string>>& commands, int at_once,
                                      const ProgramEvents& events,
                                      std::chrono::milliseconds timeout = kForEver);

/// Runs one program at our terminal, with our standard streams, until it ends: its exit code, 128 + its
/// signal.
Result<int> runInForeground(const std::vector<std::string>& command);

}  // namespace pop::sys
