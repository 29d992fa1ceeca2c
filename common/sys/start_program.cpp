// SPDX-License-Identifier: Apache-2.0
#include "common/sys/start_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "common/sys/blocked_signals.h"
#include "common/sys/fd.h"
#include "common/sys/process_setup.h"

namespace pop::sys {
namespace {

void handleNoSignal() {
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Runs in the child, in our memory: system calls only. Returns the error that kept it from executing.
int execute(char* const* argv, const std::array<int, 3>& stdio, Leads leads) {
  if (leads == Leads::kSession) {
    ::setsid();
  } else {
    ::setpgid(0, 0);
  }
  for (int fd = 0; fd < 3; ++fd) {
    const int source = stdio[static_cast<std::size_t>(fd)];
    // dup2 onto itself would keep close-on-exec set.
    if ((source == fd ? ::fcntl(fd, F_SETFD, 0) : ::dup2(source, fd)) < 0) return errno;
  }
  takeBackLimits();
  handleNoSignal();
  ::execvp(argv[0], argv);
  return errno;
}

}  // namespace

Result<pid_t> startProgram(const std::vector<std::string>& command, const std::array<int, 3>& stdio,
                           Leads leads) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);

  // Closed when the program runs. Not memory, which the child does not share where a tool makes vfork a fork.
  POP_ASSIGN_OR_RETURN(Pipe failure, makePipe());
  const BlockedSignals blocked;  // no handler of ours may run in a child that borrows our memory
  const pid_t pid = ::vfork();
  if (pid == 0) {
    const int error = execute(argv.data(), stdio, leads);
    static_cast<void>(::write(failure.write_end.get(), &error, sizeof(error)));
    ::_exit(127);
  }
  if (pid < 0) return errnoStatus("starting " + command.front(), errno);
  failure.write_end.reset();
  int error = 0;
  if (::read(failure.read_end.get(), &error, sizeof(error)) != sizeof(error)) return pid;
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return errnoStatus("starting " + command.front(), error);
}

}  // namespace pop::sys
