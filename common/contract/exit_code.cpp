// SPDX-License-Identifier: Apache-2.0
#include "common/contract/exit_code.h"

#include <sys/wait.h>

#include <csignal>
#include <cstring>

namespace pop::contract {

ExitStatus exitStatusFromWait(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {0, WTERMSIG(wait_status), WCOREDUMP(wait_status) != 0};
  return {WEXITSTATUS(wait_status), 0, false};
}

int shellExitCode(const ExitStatus& status) {
  return status.signal != 0 ? kExitSignalBase + status.signal : status.code;
}

std::string describe(const ExitStatus& status) {
  if (status.signal == 0) return "exited with code " + std::to_string(status.code);
  const char* name = sigabbrev_np(status.signal);
  std::string text = "was killed by ";
  text += name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(status.signal);
  if (status.core_dumped) text += " (core dumped)";
  return text;
}

}  // namespace pop::contract
