// SPDX-License-Identifier: Apache-2.0
#include "common/sys/parallel_programs.h"

#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <list>
#include <optional>
#include <utility>

#include "common/sys/child_program.h"
#include "common/sys/ignored_signals.h"

namespace pop::sys {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Signals that end us wait while this lives; afterwards they do what they do.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : unignored({SIGINT, SIGTERM, SIGHUP})) sigaddset(&held, signal);
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
    fd_ = Fd(::signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Readable, and never read, once one has come: it stays pending.
  int fd() const { return fd_.get(); }

 private:
  sigset_t before_{};
  Fd fd_;
};

class Runner {
 public:
  using Commands = std::vector<std::vector<std::string>>;

  Runner(const Commands& commands, int at_once, const ProgramEvents& events, milliseconds timeout)
      : commands_(commands),
        at_once_(at_once < 1 ? 1 : static_cast<std::size_t>(at_once)),
        events_(events),
        timeout_(timeout),
        ends_(commands.size()) {}

  std::vector<ProgramEnd> run() {
    const HeldSignals signals;
    while (next_ < commands_.size() || !running_.empty()) {
      while (next_ < commands_.size() && running_.size() < at_once_) start(next_++);
      if (running_.empty()) continue;
      if (waitForSome(signals.fd())) {
        cancel();
        break;
      }
      collect();
    }
    return std::move(ends_);
  }

 private:
  struct Running {
    std::size_t index;
    ChildProgram program;
    Clock::time_point begun = Clock::now();
  };

  void start(std::size_t index) {
    Result<ChildProgram> program = ChildProgram::start(commands_[index]);
    if (!program.ok()) {
      ends_[index].status = program.status();
      if (events_.ended) events_.ended(index, ends_[index]);
      return;
    }
    if (events_.started) events_.started(index);
    running_.push_back({index, std::move(*program)});
  }

  // True: a signal has come.
  bool waitForSome(int signals) {
    std::vector<pollfd> waiting{{signals, POLLIN, 0}};
    for (Running& each : running_) {
      waiting.push_back({each.program.out().get(), POLLIN, 0});
      waiting.push_back({each.program.err().get(), POLLIN, 0});
    }
    if (::poll(waiting.data(), waiting.size(), timeout()) < 0) return false;
    std::size_t next = 1;
    for (Running& each : running_) {
      if (waiting[next++].revents != 0) hear(each);
      if (waiting[next++].revents != 0) readSome(each.program.err(), ends_[each.index].errors);
    }
    return waiting.front().revents != 0;
  }

  void hear(Running& running) {
    std::string text;
    readSome(running.program.out(), text);
    if (!text.empty() && events_.printed) events_.printed(running.index, text);
  }

  milliseconds left(const Running& running) const {
    return timeout_ - std::chrono::duration_cast<milliseconds>(Clock::now() - running.begun);
  }

  // For poll: until the first has had its time.
  int timeout() const {
    milliseconds first = timeout_;
    for (const Running& each : running_) first = std::min(first, left(each));
    return static_cast<int>(std::clamp<milliseconds::rep>(first.count(), 0, INT_MAX));
  }

  void collect() {
    for (auto next = running_.begin(); next != running_.end();) {
      const auto each = next++;
      const bool speaks = each->program.out().valid() || each->program.err().valid();
      if (speaks && left(*each) > milliseconds(0)) continue;
      finish(*each, speaks);
      running_.erase(each);
    }
  }

  void finish(Running& running, bool too_late) {
    ProgramEnd& end = ends_[running.index];
    const std::string& name = commands_[running.index].front();
    const std::optional<int> status = too_late ? std::nullopt : running.program.wait(left(running));
    if (status && WIFEXITED(*status)) end.exit_code = WEXITSTATUS(*status);
    if (!status) end.status = {Code::kDeadlineExceeded, name + " had not ended in time"};
    if (status && *status != 0) end.status = failedPrecondition(name + ' ' + howItEnded(*status, end.errors));
    if (events_.ended) events_.ended(running.index, end);
  }

  void cancel() {
    for (Running& each : running_) ends_[each.index].status = cancelled();
    for (; next_ < commands_.size(); ++next_) ends_[next_].status = cancelled();
    running_.clear();
  }

  static Status cancelled() { return {Code::kCancelled, "a signal came first"}; }

  const std::vector<std::vector<std::string>>& commands_;
  std::size_t at_once_;
  const ProgramEvents& events_;
  const milliseconds timeout_;
  std::vector<ProgramEnd> ends_;
  std::list<Running> running_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<ProgramEnd> runInParallel(const std::vector<std::vector<std::string>>& commands, int at_once,
                                      const ProgramEvents& events, std::chrono::milliseconds timeout) {
  return Runner(commands, at_once, events, timeout).run();
}

Result<int> runInForeground(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (error != 0) return errnoStatus("starting " + command.front(), error);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace pop::sys
