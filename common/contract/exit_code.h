// SPDX-License-Identifier: Apache-2.0
// Ends of processes, and the meaning of poprun's exit codes (docs/reference/exit_codes.md).
#pragma once

#include <string>

namespace pop::contract {

inline constexpr int kExitTimeout = 124;         ///< the job was ended by its time limit
inline constexpr int kExitLauncherFailed = 125;  ///< poprun itself failed: options, hosts, its own resources
inline constexpr int kExitCannotExecute = 126;   ///< the program exists but cannot be executed
inline constexpr int kExitNotFound = 127;        ///< the program does not exist
inline constexpr int kExitSignalBase = 128;      ///< plus the signal that killed the program
inline constexpr int kExitInterrupted = 130;     ///< the user pressed Ctrl-C

/// The end of one process.
struct ExitStatus {
  int code = 0;    ///< exit code when signal == 0
  int signal = 0;  ///< the signal that killed it, or 0
  bool core_dumped = false;

  bool success() const { return signal == 0 && code == 0; }

  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

/// From the status word of waitpid.
ExitStatus exitStatusFromWait(int wait_status);

/// The code as a shell reports it: the exit code, or 128 + signal.
int shellExitCode(const ExitStatus& status);

/// "exited with code 3", "was killed by SIGSEGV (core dumped)".
std::string describe(const ExitStatus& status);

}  // namespace pop::contract
