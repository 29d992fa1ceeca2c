// SPDX-License-Identifier: Apache-2.0
#include "poprun/app.h"

#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>

#include "common/contract/exit_code.h"
#include "poprun/command/doctor_command.h"
#include "poprun/command/run_command.h"
#include "poprun/command/simulate_command.h"

namespace pop {
namespace {

// Descriptors 0-2 must exist, or the first pipe would land on one of them.
void openMissingStdio() {
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
  }
}

// Our caller may ignore SIGCHLD: the kernel would then reap the programs that we start before we have read
// how they ended.
void hearOfChildren() {
  std::signal(SIGCHLD, SIG_DFL);
}

int dispatch(int argc, char** argv, const HostsHalf* hosts) {
  openMissingStdio();
  hearOfChildren();
  CommandLine line{argc > 0 ? argv[0] : "poprun", {argv + std::min(argc, 1), argv + argc}, {}};
  if (hosts != nullptr) {
    if (const Status taken = line.files.takeOver(line.arguments); !taken.ok())
      return reportMistakes({taken.message()});
  }
  const cli::Spelling spelling = cli::spellingOf(line.name);
  const bool has_command = spelling == cli::Spelling::kPoprun && !line.arguments.empty();
  if (has_command && line.arguments.front() == "doctor") return doctorCommand(line, hosts);
  if (has_command && line.arguments.front() == "simulate")
    return simulateCommand({line.arguments.begin() + 1, line.arguments.end()});
  return runCommand(line, spelling, hosts);
}

}  // namespace

int runApp(int argc, char** argv, const HostsHalf* hosts) {
  try {
    return dispatch(argc, argv, hosts);
  } catch (const std::exception& error) {  // a library's: no memory, no descriptors
    std::fprintf(stderr, "poprun: %s (see `ulimit -n` and `ulimit -v`)\n", error.what());
    return contract::kExitLauncherFailed;
  }
}

}  // namespace pop
