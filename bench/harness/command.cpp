// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "agent/keeper/descendants.h"
#include "common/base/text.h"

namespace pop::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTermTimeout{1000};
constexpr std::chrono::milliseconds kKillTimeout{5000};
// Time to read the rest of a command's output after its end: processes it has left behind may print on.
constexpr std::chrono::milliseconds kRestTimeout{1000};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// posix_spawn uses vfork: it does not copy page tables, so this process's size does not matter.
Result<pid_t> start(const Command& command, int output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  posix_spawn_file_actions_adddup2(&files, output, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, command.argv.front().c_str(), &files, &attributes,
                                  pointersTo(command.argv).data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return errnoStatus("starting " + inQuotes(command.argv.front()), error);
  return pid;
}

// One started command: reads its output until it ends.
class RunningCommand {
 public:
  RunningCommand(pid_t pid, sys::Fd output, const Command& command)
      // glibc 2.36 declares pidfd_open without C linkage.
      : pid_(pid),
        pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))),
        output_(std::move(output)),
        command_(command) {}

  /// True when the process has ended (it is not reaped yet), false at the deadline.
  bool waitUntil(Clock::time_point deadline) {
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      std::array<pollfd, 2> fds{pollfd{pidfd_.get(), POLLIN, 0}, pollfd{output_.get(), POLLIN, 0}};
      const int ready =
          ::poll(fds.data(), fds.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
      if (ready < 0 && errno != EINTR) return false;
      if (fds[1].revents != 0) readOutput();
      if (fds[0].revents != 0) return true;
      if (Clock::now() >= deadline) return false;
    }
  }

  void signalGroup(int signal) const { ::kill(-pid_, signal); }

  /// After its end: takes the rest of the output and the status.
  void reap(RunResult& run) {
    const Clock::time_point deadline = Clock::now() + kRestTimeout;
    while (readOutput() && Clock::now() < deadline) continue;
    int status = 0;
    rusage used{};
    while (::wait4(pid_, &status, 0, &used) < 0 && errno == EINTR) {
    }
    run.cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
    run.end = WIFSIGNALED(status) ? End::kSignalled : End::kExited;
    run.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    run.output = std::move(kept_);
    run.output_bytes = bytes_;
  }

 private:
  // Reads a limited amount, since the output may never end; false if there is none. A closed pipe is no
  // longer polled.
  bool readOutput() {
    static std::array<char, 1 << 16> buffer;
    if (!output_.valid()) return false;
    const ssize_t size = ::read(output_.get(), buffer.data(), buffer.size());
    if (size < 0) return errno == EINTR;
    if (size == 0) {
      output_.reset();
      return false;
    }
    bytes_ += size;
    kept_.append(buffer.data(),
                 std::min(static_cast<std::size_t>(size), command_.kept_output_bytes - kept_.size()));
    if (command_.watch) command_.watch(kept_, pid_);
    return true;
  }

  pid_t pid_;
  sys::Fd pidfd_;
  sys::Fd output_;
  const Command& command_;
  std::string kept_;
  std::int64_t bytes_ = 0;
};

}  // namespace

std::string inWords(const RunResult& run) {
  if (run.end == End::kTimedOut) return "no end within its time limit";
  return (run.end == End::kExited ? "exit code " : "signal ") + std::to_string(run.code);
}

Status adoptOrphans() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return errnoStatus("becoming a child subreaper", errno);
  return {};
}

Result<RunResult> run(const Command& command) {
  POP_ASSIGN_OR_RETURN(sys::Pipe pipe, sys::makePipe());
  POP_RETURN_IF_ERROR(sys::setNonBlocking(pipe.read_end.get()));
  const auto begin = Clock::now();
  POP_ASSIGN_OR_RETURN(const pid_t pid, start(command, pipe.write_end.get()));
  pipe.write_end.reset();
  RunningCommand running(pid, std::move(pipe.read_end), command);

  const bool ended = running.waitUntil(begin + command.time_limit);
  if (!ended) {
    running.signalGroup(SIGTERM);  // most launchers tidy up then
    if (!running.waitUntil(Clock::now() + kTermTimeout)) {
      running.signalGroup(SIGKILL);
      if (!running.waitUntil(Clock::now() + kKillTimeout))
        return unavailable(inQuotes(command.argv.front()) + " resists SIGKILL");
    }
  }
  RunResult run;
  running.reap(run);
  run.wall_s = std::chrono::duration<double>(Clock::now() - begin).count();
  if (!ended) run.end = End::kTimedOut;
  if (!keeper::endAllDescendants(kKillTimeout, {}))
    return unavailable("a process left behind by " + inQuotes(command.argv.front()) + " resists SIGKILL");
  return run;
}

std::string findInPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (const std::string& directory : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    std::string candidate = (directory.empty() ? "." : directory) + '/' + program;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

std::vector<char*> pointersTo(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace pop::bench
