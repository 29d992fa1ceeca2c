// SPDX-License-Identifier: Apache-2.0
#include "controller/core/job.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"
#include "controller/core/host_bindings.h"

namespace pop {
namespace {

// Hosts report at different moments of a second.
constexpr std::chrono::milliseconds kTellEvery{1000};

// One for each address that several hosts share, usually two names of one host; `addresses[h]` is the address
// of `hosts[h]`.
std::vector<std::string> sharedAddressWarnings(const std::vector<model::Host>& hosts,
                                               const std::vector<std::string>& addresses) {
  std::map<std::string, std::vector<std::string>> names_at;
  for (std::size_t host = 0; host < hosts.size(); ++host)
    names_at[addresses[host]].push_back(hosts[host].name);
  std::vector<std::string> warnings;
  for (const auto& [address, names] : names_at) {
    if (names.size() < 2) continue;
    warnings.push_back(
        "hosts " + join(names, ", ") + " have the same address, " + address +
        ": if these are names of one host, list it once, because each name would bind instances to the same "
        "cores; if each host has a local network with this address, such as a bridge of containers, name the "
        "network between the hosts with --host-subnet");
  }
  return warnings;
}

}  // namespace

Job::Job(Loop& loop, JobIdentity identity, model::JobSpec spec, const std::vector<Agent*>& agents,
         JobWatch watch)
    : loop_(loop),
      identity_(std::move(identity)),
      watch_(std::move(watch)),
      log_(loop, watch_.event),
      hosts_(agents),
      end_(spec.max_restarts) {
  POP_CHECK(agents.size() == spec.hosts.size());
  beginAttempt(std::move(spec));
}

Job::~Job() {
  for (const std::optional<TimerId>& timer : {timeout_, restart_delay_, tell_}) {
    if (timer) loop_.cancel(*timer);
  }
}

void Job::beginAttempt(model::JobSpec spec) {
  AttemptEvents& events = *this;
  values_ = {};
  attempt_ = std::make_unique<Attempt>(loop_, std::move(spec), hosts_, log_, events);
}

void Job::start() {
  const std::chrono::milliseconds limit = attempt_->spec().timeout;
  if (limit.count() > 0) timeout_ = loop_.postAfter(limit, [this] { timeOver(); });
  place();
}

// ---- placing

void Job::place() {
  const model::JobSpec& spec = attempt_->spec();
  log_.append(-1, "placing " + counted(spec.num_instances, "instance") + " of " +
                      inQuotes(spec.programs.front().command.front()) + " on " +
                      counted(hosts_.count(), "host"));
  hosts_.describe(attempt_->placed(), [this] { described(); });
}

// An attempt after the loss of hosts runs without them.
Result<model::JobSpec> Job::specOfNext() const {
  if (!hosts_.anyGone()) return attempt_->spec();
  return attempt_->placed().without(hosts_.gone());
}

void Job::placeAgain() {
  Result<model::JobSpec> next = specOfNext();
  if (!next.ok()) {
    end_.noteWhyNotAgain(next.status().message());
    return failed({.exit_code = contract::kExitLauncherFailed, .hosts_lost = true});
  }
  if (hosts_.anyGone()) {
    log_.append(-1, "continues without " + describeHosts(hosts_.failures(attempt_->spec()), false));
    hosts_.leaveOutGone();
    placement_told_ = false;
  }
  beginAttempt(std::move(*next));
  place();
}

void Job::described() {
  if (state_ != JobState::kPending) return;  // the user, or the time limit, was quicker
  if (!hosts_.anyGone()) {
    correctAddresses();
    return bindAll();
  }
  end_.noteFailure({.exit_code = contract::kExitLauncherFailed, .hosts_lost = true, .after = log_.elapsed()});
  attemptOver();
}

void Job::correctAddresses() {
  const std::vector<model::Host>& hosts = attempt_->spec().hosts;
  hosts_.correct([&](std::vector<std::string>& addresses) {
    if (identity_.correct) identity_.correct(hosts, addresses);
    if (placement_told_) return;
    for (std::string& warning : sharedAddressWarnings(hosts, addresses))
      log_.append(-1, std::move(warning), EventKind::kWarning);
  });
}

void Job::bindAll() {
  if (const Status bound = attempt_->bind(); !bound.ok())
    return failed({.reason = bound.message(), .exit_code = contract::kExitLauncherFailed});
  if (!std::exchange(placement_told_, true)) {
    for (std::string& warning : warningsOf(attempt_->spec(), attempt_->bindings()))
      log_.append(-1, std::move(warning), EventKind::kWarning);
    if (watch_.placed) watch_.placed(attempt_->placed().instances(attempt_->bindings()));
  }
  handle(JobEvent::kPlaced);
}

// ---- state machine and events

void Job::handle(JobEvent event) {
  const auto transition = step(state_, event);
  if (!transition) return;
  if (state_ != transition->to) {
    state_ = transition->to;
    log_.append(-1, std::string("job is ") + pop::nameOf(state_),
                state_ == JobState::kStarting ? EventKind::kJobStarting : EventKind::kNote);
  }
  switch (transition->action) {
    case JobAction::kNone:
      break;
    case JobAction::kPlace:
      placeAgain();
      break;
    case JobAction::kStartAll:
      attempt_->start(identity_.id, identity_.key, end_.restarts(), watch_.reported != nullptr);
      break;
    case JobAction::kStopAll:
      attempt_->stop();
      break;
    case JobAction::kKillAll:
      hosts_.forEachAgent([](Agent& agent) { agent.kill(); });
      break;
    case JobAction::kWait:
      waitToRestart();
      break;
    case JobAction::kReport:
      report();
      break;
  }
}

void Job::stop(int user_signal) {
  // If output cannot be written, the job stops and is not restarted. It still gets its grace, and an earlier
  // failure still decides its exit code.
  if (user_signal == SIGPIPE) end_.noteOutputLost();
  if (user_signal == SIGPIPE && end_.decided()) return;
  end_.noteUserSignal(user_signal);
  handle(JobEvent::kStop);
}

void Job::signal(int signal) {
  hosts_.forEachAgent([signal](Agent& agent) { agent.signal(signal); });
}

void Job::timeOver() {
  const bool is_ending = end_.decided();
  end_.noteTimeout();
  if (is_ending) return;
  log_.append(-1, "its time limit has expired");
  if (state_ == JobState::kPending) hosts_unanswered_ = hosts_.unanswered();
  const bool running = state_ == JobState::kStarting || state_ == JobState::kRunning;
  const model::JobSpec& spec = attempt_->spec();
  if (!spec.stack_traces || !running) return handle(JobEvent::kTimeout);
  std::size_t host = 0;
  hosts_.forEachAgent([&](Agent& agent) {
    agent.traceStacks([this, name = spec.hosts[host++].name](std::vector<StackTrace> traces) {
      for (StackTrace& trace : traces) trace.host = name;
      traced(std::move(traces));
    });
  });
}

void Job::traced(std::vector<StackTrace> traces) {
  stack_traces_.insert(stack_traces_.end(), traces.begin(), traces.end());
  if (++hosts_traced_ < hosts_.count()) return;
  std::sort(stack_traces_.begin(), stack_traces_.end(),
            [](const StackTrace& a, const StackTrace& b) { return a.instance < b.instance; });
  handle(JobEvent::kTimeout);
}

void Job::failed(Failure failure) {
  const bool first = !end_.decided();
  failure.after = log_.elapsed();
  end_.noteFailure(std::move(failure));
  if (first) handle(JobEvent::kFailure);
}

void Job::reported(const std::vector<InstanceValue>& values) {
  values_.take(values);
  if (watch_.reported && !tell_) tell_ = loop_.postAfter(kTellEvery, [this] { tellReported(); });
}

void Job::tellReported() {
  if (!tell_) return;
  loop_.cancel(*std::exchange(tell_, std::nullopt));
  watch_.reported(values_.folded());
}

void Job::attemptOver() {
  tellReported();
  const bool is_pending = state_ == JobState::kPending;
  if (end_.startsAgain(specOfNext().status())) return handle(JobEvent::kRetry);
  handle(is_pending ? JobEvent::kFailure : JobEvent::kAllClosed);
}

void Job::waitToRestart() {
  end_.countRestart();
  watch_.restarting(outcome(), end_.restarts());
  end_.beginAnew();
  attempt_->forgetEnd();
  const std::chrono::milliseconds delay = attempt_->spec().restart_delay;
  restart_delay_ = loop_.postAfter(delay, [this] { handle(JobEvent::kDelayOver); });
}

JobOutcome Job::outcome() const {
  JobOutcome outcome = end_.outcome();
  attempt_->describeEnd(outcome);
  return outcome;
}

void Job::report() {
  if (timeout_) loop_.cancel(*timeout_);
  if (restart_delay_) loop_.cancel(*restart_delay_);
  JobOutcome last = outcome();
  last.stack_traces = std::move(stack_traces_);
  last.hosts_unanswered = hosts_unanswered_;
  watch_.done(last);
}

}  // namespace pop
