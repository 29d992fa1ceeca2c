// SPDX-License-Identifier: Apache-2.0
#include "poprun/session/job_session.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/contract/exit_code.h"
#include "common/log/log.h"
#include "common/sys/ignored_signals.h"
#include "common/sys/process_setup.h"
#include "controller/local/local_controller.h"
#include "poprun/plan/binding_report.h"
#include "poprun/session/mpi_check.h"
#include "poprun/ui/summary.h"

namespace pop {
namespace {

constexpr std::chrono::milliseconds kSameCause{50};

// Time that a stopped job may take before the user is told what it waits for.
constexpr std::chrono::milliseconds kUntilSaid{500};

const std::vector<int> kEndingSignals{SIGINT, SIGTERM, SIGHUP};
const std::vector<int> kWatchedSignals{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

void setDisposition(const std::vector<int>& signals, void (*disposition)(int)) {
  for (const int signal : signals) std::signal(signal, disposition);
}

// If the kernel does not stop us, we continue at once.
void stopAsByDefault() {
  struct sigaction by_default {};
  struct sigaction ours {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGTSTP, &by_default, &ours);
  ::raise(SIGTSTP);
  ::sigaction(SIGTSTP, &ours, nullptr);
}

void logEvent(const LogEntry& entry) {
  const std::string text = printable(entry.text);  // another host may have said it
  if (entry.kind == EventKind::kWarning) return log::warning(text);
  if (entry.instance < 0) return log::info(text);
  log::debug("instance " + std::to_string(entry.instance) + ' ' + text);
}

class Session {
 public:
  Session(const model::JobSpec& spec, const SessionSettings& settings, const ControllerMaker& make)
      : spec_(spec),
        report_bindings_(settings.report_bindings),
        program_hint_(settings.program_hint),
        mux_(loop_, settings.output, [this](const WriteFailure& failure) { cannotWrite(failure); }),
        begun_(settings.begun),
        controller_(make(loop_, {mux_, [this](std::string_view lines) { mux_.say(lines); }})) {}

  int run(const SessionSettings& settings) {
    if (const Status opened = mux_.openFiles(); !opened.ok()) return refuse(opened);
    log::setSink([this](std::string_view line) { mux_.say(line); });
    loop_.watchSignals(sys::unignored(kWatchedSignals),
                       [this](const os::Signal& signal) { onSignal(signal); });
    if (!settings.before_output.empty()) mux_.print(settings.before_output);
    submitted_at_ = loop_.now();
    const Status submitted = controller_->submit(
        spec_, {.event = [this](const LogEntry& entry) { noteEvent(entry); },
                .placed = [this](const std::vector<PlacedInstance>& instances) { placed(instances); },
                .restarting = [this](const JobOutcome& failed, int restart) { restarting(failed, restart); },
                .done =
                    [this](const JobOutcome& outcome) {
                      outcome_ = outcome;
                      loop_.post([this] { loop_.stop(); });
                    }});
    if (submitted.ok()) loop_.run();
    if (slow_end_) loop_.cancel(*slow_end_);
    suspending_ = false;  // the instances are told to end instead
    const Status ended = controller_->shutDown();
    log::setSink(nullptr);
    if (!submitted.ok()) return launcherFailed(submitted);
    // Only poprun itself is left to stop: a signal may end it at once if no reader takes what flush() writes;
    // otherwise the signal is late.
    mux_.finish(summaryOf(*outcome_, spec_, summaryFacts()));
    setDisposition(sys::unignored(kEndingSignals), mux_.waiting() ? SIG_DFL : SIG_IGN);
    setDisposition(sys::unignored({SIGTSTP}), SIG_DFL);
    mux_.flush();
    if (!ended.ok()) log::warning(ended.message());
    return write_failure_ ? exitCodeAfter(*write_failure_) : outcome_->exit_code;
  }

 private:
  void placed(const std::vector<PlacedInstance>& instances) {
    std::vector<std::string> hosts;
    for (const PlacedInstance& each : instances) hosts.push_back(each.host);
    mux_.setHosts(hosts);
    if (report_bindings_) mux_.say(bindingReport(instances));
  }

  // Before anything has started.
  int refuse(const Status& status) {
    static_cast<void>(controller_->shutDown());
    return launcherFailed(status);
  }

  void noteEvent(const LogEntry& entry) {
    logEvent(entry);
    switch (entry.kind) {
      case EventKind::kJobStarting:
        running_.clear();
        return mux_.beginAttempt();
      case EventKind::kInstanceStarted:
        running_.insert(entry.instance);
        if (++started_ == spec_.num_instances) loop_.post([this] { warnOfMpi(); });
        return mux_.started(entry.instance);
      case EventKind::kInstanceEnded:
        running_.erase(entry.instance);
        return mux_.ended(entry.instance);
      case EventKind::kInstanceClosed:
        return mux_.closed(entry.instance);
      case EventKind::kNote:
      case EventKind::kWarning:
        break;
    }
  }

  // All instances of the first attempt run: from here on it costs them nothing.
  void warnOfMpi() const {
    if (const std::string warning = checkMpi(spec_); !warning.empty()) log::warning(warning);
  }

  SummaryFacts summaryFacts() const {
    if (!outcome_->failure) return {};
    const Failure& failure = *outcome_->failure;
    SummaryFacts facts{.after = failure.after,
                       .wall_clock = begun_
                                         ? *begun_ + failure.after
                                         : WallClock::now() - (loop_.now() - submitted_at_ - failure.after),
                       .program_hint = program_hint_};
    if (failure.instance >= 0) facts.last_errors = mux_.lastErrors(failure.instance);
    return facts;
  }

  // The job and its loop may already be over: then there is nothing to stop.
  void cannotWrite(const WriteFailure& failure) {
    write_failure_ = failure;
    loop_.post([this] { controller_->stop(SIGPIPE); });
  }

  // If the reader has gone, the user wanted it so; any other failure must be reported. An earlier end of the
  // job still decides the exit code.
  int exitCodeAfter(const WriteFailure& failure) const {
    const bool stopped_the_job = outcome_->user_signal == SIGPIPE;
    const bool decides = stopped_the_job || outcome_->exit_code == 0;
    if (failure.error == EPIPE) return decides ? contract::kExitSignalBase + SIGPIPE : outcome_->exit_code;
    const Status why = errnoStatus(
        std::string(stopped_the_job ? "the job was stopped because its" : "the end of the job's") +
            " output cannot be written to " + failure.where,
        failure.error);
    if (decides) return launcherFailed(why);
    log::warning(why.message());
    return outcome_->exit_code;
  }

  void restarting(const JobOutcome& failed, int restart) { mux_.say(restartNotice(failed, spec_, restart)); }

  void onSignal(const os::Signal& signal) {
    switch (signal.number) {
      case SIGTSTP:
        return suspend();
      case SIGCONT:
        return goOn(signal);
      case SIGUSR1:
      case SIGUSR2:
        return controller_->signal(signal.number);
      default:
        return endingSignal(signal);
    }
  }

  // The instances are in process groups of their own, so the terminal's Ctrl-Z does not reach them, and a
  // stop that can be handled would be ignored there. They go on with us, however that comes: SIGCONT may be
  // ignored, and the kernel stops neither the first process of a container nor one of a group that no shell
  // could continue.
  void suspend() {
    if (std::exchange(suspending_, true)) return;
    // First handles other pending events, in a separate round of the loop: a SIGCONT would not come again.
    controller_->suspend([this] {
      loop_.post([this] {
        loop_.post([this] {
          if (suspending_) stopHere();
        });
      });
    });
  }

  // A SIGCONT that comes before we are stopped cancels the stop.
  void goOn(const os::Signal& signal) {
    const bool takes_back = std::exchange(suspending_, false);
    if (!takes_back && signal.at - continued_at_ < kSameCause) return;  // passed on already
    controller_->signal(signal.number);
  }

  void stopHere() {
    mux_.eraseStatus();
    const Clock::time_point stopped = loop_.now();
    stopAsByDefault();
    loop_.extendTimers(loop_.now() - stopped);
    controller_->signal(SIGCONT);
    continued_at_ = loop_.now();
    suspending_ = false;
  }

  void endingSignal(const os::Signal& signal) {
    log::info("received SIG" + std::string(sigabbrev_np(signal.number)));
    // One cause may send two signals: timeout(1) signals its child, and then the child's process group.
    if (signal.at - last_signal_ < kSameCause) return;
    last_signal_ = signal.at;
    if (++user_signals_ > 1) mux_.abandon();
    controller_->stop(signal.number);
    if (signal.number == SIGINT && user_signals_ == 1 && spec_.kill_grace > kUntilSaid)
      slow_end_ = loop_.postAfter(kUntilSaid, [this] { sayWhatIsAwaited(); });
  }

  void sayWhatIsAwaited() {
    slow_end_.reset();
    if (running_.empty() || user_signals_ > 1) return;
    mux_.say("poprun: stopping " + counted(static_cast<std::int64_t>(running_.size()), "instance") +
             " (SIGTERM; SIGKILL in " + secondsText(spec_.kill_grace - kUntilSaid) +
             " s; Ctrl-C again kills now)\n");
  }

  const model::JobSpec& spec_;
  const bool report_bindings_;
  const std::string program_hint_;
  os::EpollLoop loop_;
  OutputMux mux_;
  const std::optional<std::chrono::system_clock::time_point> begun_;
  const std::unique_ptr<Controller> controller_;
  std::optional<JobOutcome> outcome_;
  std::optional<WriteFailure> write_failure_;
  Clock::time_point submitted_at_{};
  int user_signals_ = 0;
  Clock::time_point last_signal_{};
  Clock::time_point continued_at_{};
  bool suspending_ = false;
  int started_ = 0;                  ///< instances, of all attempts
  std::set<int> running_;            ///< instances
  std::optional<TimerId> slow_end_;  ///< after the first Ctrl-C
};

}  // namespace

int launcherFailed(const Status& status) {
  std::fprintf(stderr, "poprun: %s\n", status.message().c_str());
  return contract::kExitLauncherFailed;
}

int runSession(const model::JobSpec& spec, const SessionSettings& settings, const ControllerMaker& make) {
  if (settings.other) return settings.other(spec, make);
  const int exit_code = Session(spec, settings, make).run(settings);
  setDisposition(kEndingSignals, SIG_IGN);  // the exit code is known: a late Ctrl-C must not replace it
  return exit_code;
}

int runJob(const model::JobSpec& spec, const SessionSettings& settings) {
  Result<keeper::Keeper> keeper = keeper::forkKeeper();
  if (!keeper.ok()) return launcherFailed(keeper.status());
  if (const Status ready = sys::setUpForJobs(); !ready.ok()) {
    static_cast<void>(keeper::endKeeper(std::move(*keeper)));
    return launcherFailed(ready);
  }
  const auto modeOf = [](const StreamSettings& stream) {
    return stream.whole_lines ? agent::OutputPump::Mode::kLines : agent::OutputPump::Mode::kRaw;
  };
  return runSession(spec, settings, [&](os::EpollLoop& loop, const SessionOutput& output) {
    const agent::OutputPump::Modes modes{modeOf(settings.output.out), modeOf(settings.output.err)};
    return std::make_unique<LocalController>(loop, std::move(*keeper), output.sink, modes);
  });
}

}  // namespace pop
