// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/peak_memory.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include "common/base/text.h"
#include "common/sys/fd.h"

namespace pop::bench {
namespace {

constexpr std::chrono::milliseconds kKillTimeout{5000};
constexpr long kTraced = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                         PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;

// "VmHWM:\t    1234 kB" and the like in /proc/PID/status.
std::string fieldOf(const std::string& status, const std::string& field) {
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(field + ":\t")) continue;
    const std::size_t begin = line.find_first_not_of(" \t", field.size() + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

class Tracer {
 public:
  /// One stop or end of a process or thread.
  void handle(pid_t task, int status) {
    if (!WIFSTOPPED(status)) {
      tasks_.erase(task);
      return;
    }
    const int event = status >> 16;
    const int signal = WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXIT) notePeak(task);
    // A new task begins with a SIGSTOP, and an exec with a SIGTRAP, both sent for the tracer; every other
    // signal is the process's own.
    const bool first_stop = tasks_.insert(task).second;
    if (first_stop) ::ptrace(PTRACE_SETOPTIONS, task, nullptr, kTraced);
    const bool ours = event != 0 || first_stop || signal == SIGTRAP;
    ::ptrace(PTRACE_CONT, task, nullptr, ours ? 0L : static_cast<long>(signal));
  }

  void killAll() const {
    for (const pid_t task : tasks_) ::kill(task, SIGKILL);
  }

  std::vector<ProcessPeak> takePeaks() { return std::move(peaks_); }

 private:
  // The process's memory still exists at this stop. Threads share it: the first one of the process counts.
  void notePeak(pid_t task) {
    if (std::optional<ProcessPeak> peak = peakMemoryOf(task)) peaks_.push_back(std::move(*peak));
  }

  std::set<pid_t> tasks_;
  std::vector<ProcessPeak> peaks_;
};

// vfork, so that the child does not inherit this process's memory.
pid_t startTraced(const Command& command, int output) {
  const std::vector<char*> argv = pointersTo(command.argv);
  const pid_t pid = ::vfork();
  if (pid != 0) return pid;
  ::setpgid(0, 0);
  ::dup2(output, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(127);
  ::execve(argv.front(), argv.data(), environ);
  ::_exit(127);
}

}  // namespace

std::optional<ProcessPeak> peakMemoryOf(pid_t pid) {
  const std::string directory = "/proc/" + std::to_string(pid);
  const Result<std::string> status = sys::readFile(directory + "/status");
  if (!status.ok() || fieldOf(status.value(), "Tgid") != std::to_string(pid)) return std::nullopt;
  std::error_code unreadable;
  ProcessPeak peak{.executable = std::filesystem::read_symlink(directory + "/exe", unreadable),
                   .name = fieldOf(status.value(), "Name")};
  std::istringstream(fieldOf(status.value(), "VmHWM")) >> peak.peak_kib;
  return peak;
}

Result<std::vector<ProcessPeak>> tracePeakMemory(const Command& command) {
  const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const pid_t root = startTraced(command, null.get());
  if (root < 0) return errnoStatus("starting " + inQuotes(command.argv.front()), errno);
  Tracer tracer;
  auto deadline = std::chrono::steady_clock::now() + command.time_limit;
  std::optional<int> root_status;
  bool in_time = true;
  // Runs until no descendant is left: all of them are traced, and so waited for here.
  while (true) {
    int status = 0;
    const pid_t task = ::waitpid(-1, &status, __WALL | WNOHANG);
    if (task < 0 && errno == ECHILD) break;
    if (task > 0) tracer.handle(task, status);
    if (task == root && !WIFSTOPPED(status)) root_status = status;
    if (root_status || !in_time) tracer.killAll();
    if (task > 0) continue;
    if (std::chrono::steady_clock::now() >= deadline) {
      if (!in_time) return unavailable(inQuotes(command.argv.front()) + " resists SIGKILL");
      in_time = false;
      deadline += kKillTimeout;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  if (!in_time)
    return Status(Code::kDeadlineExceeded, inQuotes(command.argv.front()) + " did not end in time");
  std::vector<ProcessPeak> peaks = tracer.takePeaks();
  if (peaks.empty() || root_status != 0) {
    return failedPrecondition(inQuotes(command.argv.front()) +
                              " does not succeed under ptrace (is ptrace allowed here?)");
  }
  return peaks;
}

}  // namespace pop::bench
