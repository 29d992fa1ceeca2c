// SPDX-License-Identifier: Apache-2.0
#include "agent/keeper/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/mempolicy.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "agent/keeper/find_program.h"
#include "common/base/text.h"
#include "common/contract/env_frameworks.h"
#include "common/contract/exit_code.h"

namespace pop::keeper {
namespace {

// The step at which the child failed.
enum class Step : std::uint8_t { kPreparing, kEnteringDirectory, kBindingCpus, kBindingMemory, kExecuting };

SpawnResult bindFailure(const std::string& what, int error) {
  return {-1, contract::kExitLauncherFailed,
          "binding to " + what + ": " + std::strerror(error) +
              " (did a cgroup change in the meantime? --process-placement disabled turns binding off)"};
}

// True if the file exists, seen from the program's working directory.
bool found(const SpawnOrder& order, const std::string& path) {
  return isPath(path) && ::access(seenFromHere(path, order.directory).c_str(), F_OK) == 0;
}

// `path`: the executed file, or the bare name if no file was found.
SpawnResult failure(const SpawnOrder& order, const std::string& path, int error, Step step) {
  if (step == Step::kEnteringDirectory) {
    return {-1, contract::kExitCannotExecute,
            "directory " + inQuotes(order.directory) + ": " + std::strerror(error)};
  }
  if (step == Step::kBindingCpus) return bindFailure("CPUs " + order.cpus.text(), error);
  if (step == Step::kBindingMemory) return bindFailure("memory nodes " + order.memory_nodes.text(), error);
  const std::string& program = order.argv.front();
  std::string reason = inQuotes(program) + ": " + std::strerror(error);
  if (error == ENOENT && found(order, path)) {
    return {-1, contract::kExitCannotExecute,
            reason + " (its interpreter, named in its first line or header, is missing)"};
  }
  if (error == ENOENT && !isPath(program)) {
    reason += " (looked in every directory of PATH";
    if (found(order, "./" + program)) reason += "; the one in the working directory is ./" + program;
    reason += ')';
  }
  if (error == E2BIG)
    reason +=
        " (the limit is a quarter of `ulimit -s` for arguments and environment together, 128 KiB for one of "
        "them)";
  if (error == ENOEXEC) reason += " (is it a script without a #! line, or a program for another machine?)";
  return {-1, error == ENOENT ? contract::kExitNotFound : contract::kExitCannotExecute, reason};
}

// The set as the kernel's bit mask; empty for the empty set.
using Mask = std::vector<unsigned long>;
constexpr std::size_t kWordBits = 8 * sizeof(unsigned long);

Mask maskOf(const model::CpuSet& set) {
  Mask mask(set.empty() ? 0 : static_cast<std::size_t>(set.cpus().back()) / kWordBits + 1);
  for (const int member : set.cpus()) {
    const auto bit = static_cast<std::size_t>(member);
    mask[bit / kWordBits] |= 1UL << (bit % kWordBits);
  }
  return mask;
}

struct ChildSetup {
  const SpawnOrder& order;
  const Mask& cpus;
  const Mask& memory_nodes;
  const char* path;
  char* const* argv;
  char* const* environment;
  pid_t keeper;
};

// Runs in the child, like executeChild. Sets the memory policy first, so that the child's later allocations,
// including exec's pages, are on its nodes.
int bindChild(const ChildSetup& setup, volatile Step& step) {
  step = Step::kBindingCpus;
  if (!setup.cpus.empty() &&
      ::syscall(SYS_sched_setaffinity, 0, setup.cpus.size() * sizeof(unsigned long), setup.cpus.data()) < 0)
    return errno;
  step = Step::kBindingMemory;
  // The kernel reads one bit less than the given count.
  if (!setup.memory_nodes.empty() && ::syscall(SYS_set_mempolicy, MPOL_BIND, setup.memory_nodes.data(),
                                               setup.memory_nodes.size() * kWordBits + 1) < 0)
    return errno;
  return 0;
}

// Runs in the child, in the parent's memory: system calls only. Returns the error that prevented the exec.
int executeChild(const ChildSetup& setup, volatile Step& step) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != setup.keeper)
    ::_exit(contract::kExitLauncherFailed);  // the keeper died before the line above
  for (int fd = 0; fd < 3; ++fd) {
    const int source = setup.order.stdio[static_cast<std::size_t>(fd)];
    // dup2 onto itself would keep close-on-exec set; the keeper's own 0, 1 and 2 are open, so sources lie
    // above.
    if (::dup2(source, fd) < 0) return errno;
  }
  step = Step::kEnteringDirectory;
  if (!setup.order.directory.empty() && ::chdir(setup.order.directory.c_str()) != 0) return errno;
  if (const int error = bindChild(setup, step); error != 0) return error;
  step = Step::kExecuting;
  // Fails where the limit of this process is below that number. Most programs do not need it.
  const int passed = setup.order.passed;
  const bool has_passed = passed >= 0 && ::dup2(passed, contract::kPassedDescriptor) >= 0;
  const rlimit& limit = setup.order.descriptor_limit;  // which may be below the number just taken
  if (limit.rlim_max > 0) ::setrlimit(RLIMIT_NOFILE, &limit);
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);  // descriptors that our own parent left open
  if (has_passed) ::fcntl(contract::kPassedDescriptor, F_SETFD, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(setup.path, setup.argv, setup.environment);
  return errno;
}

}  // namespace

SpawnResult spawn(const SpawnOrder& order) {
  const std::vector<char*> environment =
      order.base ? order.base->with(order.environment) : Environment().with(order.environment);
  const FoundProgram program = findProgram(order.argv.front(), valueIn(environment, "PATH"), order.directory);
  if (program.error != 0) return failure(order, program.path, program.error, Step::kPreparing);
  std::vector<char*> argv;
  for (const std::string& argument : order.argv) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  // vfork: the child writes its error straight into these variables, and no page tables are copied.
  volatile int error = 0;
  volatile Step step = Step::kPreparing;
  const Mask cpus = maskOf(order.cpus);
  const Mask memory_nodes = maskOf(order.memory_nodes);
  const ChildSetup setup{order,     cpus, memory_nodes, program.path.c_str(), argv.data(), environment.data(),
                         ::getpid()};
  const pid_t pid = ::vfork();
  if (pid == 0) {
    error = executeChild(setup, step);
    ::_exit(contract::kExitCannotExecute);
  }
  if (pid < 0) {
    return {-1, contract::kExitLauncherFailed,
            std::string("cannot create a process: ") + std::strerror(errno) + " (see `ulimit -u`)"};
  }
  if (error != 0) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return failure(order, program.path, error, step);
  }
  return {pid, 0, {}};
}

}  // namespace pop::keeper
