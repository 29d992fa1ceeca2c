// SPDX-License-Identifier: Apache-2.0
#include "common/os/helper_run.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include "common/os/helper_program.h"
#include "common/sys/ignored_signals.h"
#include "common/sys/process_end.h"

namespace pop::os {
namespace {

using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Commands = std::vector<std::vector<std::string>>;
using std::chrono::milliseconds;
using Stream = boost::asio::posix::stream_descriptor;
using Timer = boost::asio::steady_timer;

constexpr std::size_t kMostErrors = std::size_t{1} << 20;

// For the last output of a program that has ended. Processes that it has left, such as the master of an ssh
// connection, may keep its streams open for ever.
constexpr milliseconds kForLastOutput{500};

// Signals that end us wait while this lives; afterwards they do what they do.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : sys::unignored({SIGINT, SIGTERM, SIGHUP})) sigaddset(&held, signal);
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
    fd_ = sys::Fd(::signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Readable, and never read, once one has come: it stays pending.
  sys::Fd& fd() { return fd_; }

 private:
  sigset_t before_{};
  sys::Fd fd_;
};

std::string howItEnded(int wait_status, std::string last_words) {
  const std::string end = WIFSIGNALED(wait_status)
                              ? "was killed by signal " + std::to_string(WTERMSIG(wait_status))
                              : "ended with exit code " + std::to_string(WEXITSTATUS(wait_status));
  while (last_words.ends_with('\n')) last_words.pop_back();
  return last_words.empty() ? end : end + ": " + last_words;
}

// Output of a program to one of its streams.
struct Output {
  Stream stream;
  std::function<void(std::string_view)> heard;
  std::array<char, 4096> chunk{};
};

struct Running {
  std::size_t index;
  HelperProgram program;
  Timer deadline;
  Stream end;  ///< readable once it has ended; not open where the system cannot tell
  Output out;
  Output err;
  int open_streams = 2;
  bool has_ended = false;
  bool is_over = false;
};

// On one thread. What runs when it goes is killed.
class Runner {
 public:
  Runner(const Commands& commands, const HelperEvents& events, milliseconds timeout)
      : commands_(commands),
        events_(events),
        timeout_(timeout),
        ends_(commands.size(), {.status = {Code::kCancelled, "a signal came first"}, .errors = {}}) {}

  /// `cancelling` is readable once it is time to stop; not valid: never.
  std::vector<HelperEnd> run(int at_once, sys::Fd cancelling) {
    try {
      for (int i = 0; i < std::max(at_once, 1); ++i) startNext();
      if (num_over_ == ends_.size()) return std::move(ends_);
      Stream stop(loop_);
      if (cancelling.valid()) stop.assign(cancelling.release());
      if (stop.is_open()) stop.async_wait(Stream::wait_read, [this](const error_code&) { loop_.stop(); });
      loop_.run();
    } catch (const boost::system::system_error& error) {
      failTheRest(errnoStatus("running helper programs", error.code().value()));
    }
    return std::move(ends_);
  }

 private:
  void startNext() {
    if (next_ == commands_.size()) return;
    const std::size_t index = next_++;
    if (Status started = start(index); !started.ok()) over(index, std::move(started));
  }

  Status start(std::size_t index) {
    POP_ASSIGN_OR_RETURN(sys::Pipe out, sys::makePipe());
    POP_ASSIGN_OR_RETURN(sys::Pipe err, sys::makePipe());
    const sys::Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null.valid()) return errnoStatus("opening /dev/null", errno);
    POP_ASSIGN_OR_RETURN(
        HelperProgram program,
        HelperProgram::start(commands_[index], {null.get(), out.write_end.get(), err.write_end.get()}));
    const std::shared_ptr<Running> running(new Running{
        index,
        std::move(program),
        Timer(loop_),
        Stream(loop_),
        {Stream(loop_, out.read_end.release()), [this, index](auto text) { printed(index, text); }},
        {Stream(loop_, err.read_end.release()), [this, index](auto text) { complained(index, text); }}});
    if (sys::Fd end = sys::endOf(running->program.pid()); end.valid()) {
      running->end.assign(end.release());
      running->end.async_wait(Stream::wait_read, [this, running](const error_code&) { ended(running); });
    }
    finishWithin(running, timeout_);
    listen(running, running->out);
    listen(running, running->err);
    if (events_.started) events_.started(index);
    return {};
  }

  void listen(const std::shared_ptr<Running>& running, Output& output) {
    const auto heard = [this, running, &output](const error_code& failed, std::size_t bytes) {
      if (running->is_over) return;
      output.heard({output.chunk.data(), bytes});
      if (!failed) return listen(running, output);
      --running->open_streams;
      if (running->open_streams == 0 && (running->has_ended || !running->end.is_open())) finish(*running);
    };
    output.stream.async_read_some(boost::asio::buffer(output.chunk), heard);
  }

  void printed(std::size_t index, std::string_view text) {
    if (events_.printed && !text.empty()) events_.printed(index, text);
  }

  void complained(std::size_t index, std::string_view text) {
    std::string& errors = ends_[index].errors;
    errors.append(text.substr(0, kMostErrors - errors.size()));
  }

  // Called again, the earlier call has no effect any more.
  void finishWithin(const std::shared_ptr<Running>& running, milliseconds time) {
    running->deadline.expires_after(time);
    running->deadline.async_wait([this, running](const error_code& cancelled) {
      if (!cancelled) finish(*running);
    });
  }

  void ended(const std::shared_ptr<Running>& running) {
    if (running->is_over) return;
    running->has_ended = true;
    if (running->open_streams == 0) return finish(*running);
    finishWithin(running, std::min(kForLastOutput, leftOf(*running)));
  }

  static milliseconds leftOf(const Running& running) {
    return std::chrono::ceil<milliseconds>(running.deadline.expiry() - Clock::now());
  }

  // Once: by its deadline, or when it has ended and both of its streams are closed.
  void finish(Running& running) {
    if (std::exchange(running.is_over, true)) return;
    const std::optional<int> status = running.program.wait(leftOf(running));
    running.program = HelperProgram();
    running.deadline.cancel();
    running.end.close();
    running.out.stream.close();
    running.err.stream.close();
    const std::string& name = commands_[running.index].front();
    if (!status) {
      return over(running.index, {Code::kDeadlineExceeded, name + " has not answered within " +
                                                               std::to_string(timeout_.count()) + " ms"});
    }
    HelperEnd& end = ends_[running.index];
    if (WIFEXITED(*status)) end.exit_code = WEXITSTATUS(*status);
    const bool well = end.exit_code == 0;
    over(running.index, well ? Status() : failedPrecondition(name + ' ' + howItEnded(*status, end.errors)));
  }

  void over(std::size_t index, Status status) {
    ends_[index].status = std::move(status);
    if (events_.ended) events_.ended(index, ends_[index]);
    if (++num_over_ == ends_.size()) loop_.stop();
    startNext();
  }

  void failTheRest(const Status& why) {
    for (HelperEnd& end : ends_) {
      if (end.status.code() == Code::kCancelled) end.status = why;
    }
  }

  const Commands& commands_;
  const HelperEvents& events_;
  const milliseconds timeout_;
  std::vector<HelperEnd> ends_;
  std::size_t next_ = 0;
  std::size_t num_over_ = 0;
  boost::asio::io_context loop_{1};
};

}  // namespace

std::vector<HelperEnd> runInParallel(const Commands& commands, int at_once, const HelperEvents& events,
                                     milliseconds timeout) {
  HeldSignals signals;
  return Runner(commands, events, timeout).run(at_once, std::move(signals.fd()));
}

Result<std::string> outputOf(const std::vector<std::string>& command, milliseconds timeout,
                             sys::Fd cancelling) {
  std::string output;
  const HelperEvents events{
      .started = {}, .printed = [&](std::size_t, std::string_view text) { output += text; }, .ended = {}};
  const std::vector<HelperEnd> ends = Runner({command}, events, timeout).run(1, std::move(cancelling));
  return ends.front().status.ok() ? Result<std::string>(std::move(output)) : ends.front().status;
}

Result<int> runInForeground(const std::vector<std::string>& command) {
  POP_ASSIGN_OR_RETURN(HelperProgram program, HelperProgram::start(command, {0, 1, 2}, Leads::kNothing));
  const int status = program.wait(kForEver).value_or(0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace pop::os
