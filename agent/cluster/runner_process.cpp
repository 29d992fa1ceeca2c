// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/runner_process.h"

#include <chrono>
#include <utility>

#include "common/wire/runner_report.h"

namespace pop::agent {
namespace {

// A report: records of 1 MiB together, or one record.
constexpr std::size_t kMaxReportBytes = 2 << 20;

// The job's spec goes first, whatever its size. Orders are short: who lets so many wait reads none.
constexpr std::size_t kMaxUnsentBytes = 4 << 20;

// Between the end of its stream and the end of its process: then it is killed.
constexpr std::chrono::milliseconds kReapTimeout{5000};
// For the other way round: others may have its socket. What it has said is read by then.
constexpr std::chrono::milliseconds kStreamTimeout{1000};

// Only their jobs stop runners.
constexpr std::chrono::milliseconds kBetweenLooks{1000};
constexpr int kMostStops = 3;

}  // namespace

Result<std::unique_ptr<RunnerProcess>> RunnerProcess::start(os::EpollLoop& loop, ZombieReaper& zombies,
                                                            const RunnerCommand& command,
                                                            std::string_view order, Events events) {
  POP_ASSIGN_OR_RETURN(JobProcess process,
                       startJobProcess(command.user, {command.program, "--directory", command.directory},
                                       command.agent, zombies, command.login));
  std::unique_ptr<RunnerProcess> runner(new RunnerProcess(loop, std::move(process), std::move(events)));
  runner->stream_->send(order);
  return runner;
}

RunnerProcess::RunnerProcess(os::EpollLoop& loop, JobProcess process, Events events)
    : loop_(loop), events_(std::move(events)), process_(std::move(process)), pid_(process_.pid()) {
  words_.emplace(loop_, std::move(process_.errors()));
  stream_ = std::make_unique<wire::MessageStream>(
      loop_, std::move(process_.stream()), sys::Fd(),
      wire::MessageStream::Events{.message = [this](const std::string& report) { take(report); },
                                  .ended = [this](const Status& why) { streamEnded(why); }});
  stream_->setMostBytes(kMaxReportBytes);
  stream_->setMostUnsent(kMaxUnsentBytes);
  loop_.watchReadable(process_.pidfd(), [this] { processEnded(); });
  lookIfStopped();
}

RunnerProcess::~RunnerProcess() {
  for (const std::optional<TimerId>& timer : {timer_, stop_timer_, kill_timer_})
    if (timer) loop_.cancel(*timer);
  loop_.unwatch(process_.pidfd());
}

void RunnerProcess::take(const std::string& report) {
  if (is_over_ || !why_.empty()) return;
  const Result<wire::RunnerReportOutline> outline = wire::outlineOfRunnerReport(report);
  if (!outline.ok()) return streamEnded(outline.status());
  if (is_up_ == outline.value().is_up)
    return streamEnded(
        {Code::kDataLoss, is_up_ ? "it says twice that it is there" : "it begins with a report"});
  if (outline.value().is_up) {
    is_up_ = true;
    words_->forget();  // as that its user has no home
  }
  events_.report(outline.value().is_up, report);
}

// A stream that is merely closed does not tell why; the process's end does.
void RunnerProcess::streamEnded(const Status& why) {
  if (is_over_) return;
  if (!why.ok() && why.code() != Code::kUnavailable && why_.empty()) {
    why_ = why.message();
    process_.sendKill();
  }
  if (timer_) loop_.cancel(*timer_);
  if (process_.hasEnded()) {
    timer_.reset();
    return conclude();
  }
  timer_ = loop_.postAfter(kReapTimeout, [this] { conclude(); });
  loop_.unwatchReadable(process_.pidfd());
  loop_.watchReadable(process_.pidfd(), [this] { conclude(); });
}

void RunnerProcess::processEnded() {
  loop_.unwatchReadable(process_.pidfd());
  awaitStream();
}

void RunnerProcess::awaitStream() {
  timer_ = loop_.postAfter(kStreamTimeout, [this] { is_paused_ ? awaitStream() : conclude(); });
}

void RunnerProcess::lookIfStopped() {
  if (process_.continueIfStopped() > kMostStops) return process_.sendKill();
  stop_timer_ = loop_.postAfter(kBetweenLooks, [this] { lookIfStopped(); });
}

void RunnerProcess::killAfter(std::chrono::milliseconds timeout) {
  if (!kill_timer_) kill_timer_ = loop_.postAfter(timeout, [this] { process_.sendKill(); });
}

void RunnerProcess::pause() {
  is_paused_ = true;
  stream_->pause();
}

void RunnerProcess::resume() {
  is_paused_ = false;
  stream_->resume();
}

void RunnerProcess::conclude() {
  if (std::exchange(is_over_, true)) return;
  if (timer_) loop_.cancel(*std::exchange(timer_, std::nullopt));
  loop_.unwatch(process_.pidfd());
  RunnerEnd end;
  end.how = describeEnd(process_, *words_);
  end.exit_code = process_.exitCode();
  if (!why_.empty()) end.how = "was ended, because what it says is not a runner's: " + why_;
  process_.clear([this, end] { events_.ended(end); });
}

}  // namespace pop::agent
