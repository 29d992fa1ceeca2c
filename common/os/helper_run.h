// SPDX-License-Identifier: Apache-2.0
// Helper programs run to their end: one, or many at a time.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::os {

struct HelperEnd {
  /// kNotFound and the like: it could not be started; kDeadlineExceeded: it was killed in the end;
  /// kCancelled: a signal came first; else its exit code or signal, and its last words.
  Status status;
  int exit_code = -1;  ///< when it ended by itself
  std::string errors;  ///< first mebibyte of its stderr
};

/// Events of the running programs, by their index.
struct HelperEvents {
  std::function<void(std::size_t index)> started;
  std::function<void(std::size_t index, std::string_view text)> printed;  ///< on stdout
  std::function<void(std::size_t index, const HelperEnd& end)> ended;
};

/// Timeout of a program that is not to be hurried: a year.
inline constexpr std::chrono::milliseconds kForEver = std::chrono::hours(365 * 24);

/// Runs all of `commands` to their ends, or kills them when their timeout is over, and returns how each
/// ended. They get no input, and a session of their own. SIGINT, SIGTERM and SIGHUP, unless ignored, kill
/// what runs and start nothing more; they are delivered after that, to do what they would have done.
std::vector<HelperEnd> runInParallel(const std::vector<std::vector<std::string>>& commands, int at_once,
                                     const HelperEvents& events,
                                     std::chrono::milliseconds timeout = kForEver);

/// The stdout of `command`, once it has ended with 0, run as by runInParallel(); signals are left to
/// the caller. kCancelled: `cancelling` was readable first; not valid: it never is.
Result<std::string> outputOf(const std::vector<std::string>& command, std::chrono::milliseconds timeout,
                             sys::Fd cancelling = {});

/// Runs one program at our terminal, with our standard streams, until it ends: its exit code, 128 + its
/// signal.
Result<int> runInForeground(const std::vector<std::string>& command);

}  // namespace pop::os
