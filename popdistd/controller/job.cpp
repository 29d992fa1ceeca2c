// SPDX-License-Identifier: Apache-2.0
#include "popdistd/controller/job.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"
#include "popdistd/controller/host_addresses.h"
#include "popdistd/controller/job_host_events.h"

namespace pop {

Job::Job(Loop& loop, JobIdentity identity, model::JobSpec spec, std::vector<Agent*> agents, JobWatch watch)
    : loop_(loop),
      identity_(std::move(identity)),
      end_notices_(loop, [this](const SharedEndNotices& end_notices) { announce(end_notices); }),
      restart_policy_(spec.max_restarts),
      log_(loop, watch.event),
      watch_(std::move(watch)) {
  POP_CHECK(agents.size() == spec.hosts.size());
  placed_.emplace(std::move(spec));
  hosts_.resize(agents.size());
  for (std::size_t host = 0; host < agents.size(); ++host) {
    hosts_[host].agent = agents[host];
    hosts_[host].events = std::make_unique<HostEvents>(*this, static_cast<int>(host));
  }
}

Job::~Job() {
  for (const std::optional<TimerId>& timer : {timeout_, restart_delay_}) {
    if (timer) loop_.cancel(*timer);
  }
}

void Job::start() {
  const std::chrono::milliseconds limit = placed_->spec().timeout;
  if (limit.count() > 0) timeout_ = loop_.postAfter(limit, [this] { timeOver(); });
  place();
}

// ---- placing

void Job::place() {
  if (!leaveOutHosts()) return;
  const model::JobSpec& spec = placed_->spec();
  const int num_hosts = static_cast<int>(hosts_.size());
  instances_.assign(placed_->placement().size(), {});
  in_state_ = {};
  inState(InstanceState::kPending) = spec.num_instances;
  fence_.emplace(num_hosts, placed_->hostsWithInstances());
  hosts_described_ = 0;
  log_.append(-1, "placing " + counted(spec.num_instances, "instance") + " of " +
                      inQuotes(spec.programs.front().command.front()) + " on " + counted(num_hosts, "host"));
  for (int host = 0; host < num_hosts; ++host) {
    Host& each = hosts_[static_cast<std::size_t>(host)];
    const PlacedJob::Range range = placed_->instancesOn(host);
    each.instances_open = range.end - range.first;
    each.agent->describe(placed_->envs().portsOn(host), model::detailFor(spec.binding),
                         [this, host](Result<HostFacts> facts) { described(host, std::move(facts)); });
  }
}

// An attempt after one in which hosts were lost goes on without them. False: it cannot, and this is the end.
bool Job::leaveOutHosts() {
  const std::vector<bool> gone = goneHosts();
  if (std::find(gone.begin(), gone.end(), true) == gone.end()) return true;
  Result<model::JobSpec> rest = placed_->without(gone);
  if (!rest.ok()) {
    why_not_again_ = rest.status().message();
    fail({.exit_code = contract::kExitLauncherFailed, .hosts_lost = true});
    return false;
  }
  log_.append(-1, "goes on without " + describeHosts(hostFailures(), false));
  placed_.emplace(std::move(*rest));
  for (Host& host : hosts_) {
    if (host.failure.ok()) continue;
    host.events->leaveOut();
    left_out_.push_back(std::move(host.events));
  }
  std::erase_if(hosts_, [](const Host& host) { return !host.failure.ok(); });
  for (std::size_t host = 0; host < hosts_.size(); ++host)
    hosts_[host].events->moveTo(static_cast<int>(host));
  placement_told_ = false;
  return true;
}

// One host that fails does not hide the others: each answers within its own time, and then all are named.
void Job::described(int host, Result<HostFacts> facts) {
  if (state_ != JobState::kPending) return;  // the user, or the time limit, was quicker
  Host& each = hosts_[static_cast<std::size_t>(host)];
  each.failure = facts.status();
  if (facts.ok()) each.facts = std::move(*facts);
  if (++hosts_described_ == static_cast<int>(hosts_.size())) allDescribed();
}

void Job::allDescribed() {
  const std::vector<HostFailure> failures = hostFailures();
  if (failures.empty()) {
    correctAddresses();
    return bindAll();
  }
  exit_policy_.noteFailure(
      {.exit_code = contract::kExitLauncherFailed, .hosts_lost = true, .after = log_.elapsed()});
  endAttempt();
}

void Job::correctAddresses() {
  std::vector<std::string> addresses;
  for (const Host& host : hosts_) addresses.push_back(host.facts.address);
  if (identity_.correct) identity_.correct(placed_->spec().hosts, addresses);
  for (std::size_t host = 0; host < hosts_.size(); ++host) hosts_[host].facts.address = addresses[host];
  if (placement_told_) return;
  for (std::string& warning : sharedAddressWarnings(placed_->spec().hosts, addresses))
    log_.append(-1, std::move(warning), EventKind::kWarning);
}

void Job::bindAll() {
  std::vector<model::HostTopology> topologies;
  for (const Host& host : hosts_) topologies.push_back(host.facts.topology);
  Result<std::vector<model::Bindings>> bindings = bindHosts(placed_->spec(), placed_->envs(), topologies);
  if (!bindings.ok()) {
    return fail({.reason = bindings.status().message(), .exit_code = contract::kExitLauncherFailed});
  }
  bindings_ = std::move(*bindings);
  if (!std::exchange(placement_told_, true)) {
    for (std::string& warning : warningsOf(placed_->spec(), bindings_))
      log_.append(-1, std::move(warning), EventKind::kWarning);
    if (watch_.placed) watch_.placed(placed_->instances(bindings_));
  }
  handle(JobEvent::kPlaced);
}

contract::Rendezvous Job::rendezvous() const {
  std::vector<HostAddress> addresses;
  for (const Host& host : hosts_) {
    HostAddress& address = addresses.emplace_back();
    address.address = host.facts.address;
    for (const int port : host.facts.ports) address.ports.push_back(std::to_string(port));
  }
  return placed_->envs().rendezvous(addresses);
}

// What an instance of an attempt that failed still holds must not fit the next one.
std::string Job::attemptId() const {
  const int restarts = restart_policy_.restarts();
  return restarts == 0 ? identity_.id : identity_.id + '-' + std::to_string(restarts);
}

void Job::startAll() {
  const contract::Rendezvous everybody = rendezvous();
  for (int instance = 0; instance < placed_->spec().num_instances; ++instance)
    advance(instance, InstanceEvent::kStart);
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    JobSlice slice = placed_->slice(static_cast<int>(host), attemptId(), restart_policy_.restarts(),
                                    everybody, bindings_[host]);
    slice.key = identity_.key;
    slice.host_address = hosts_[host].facts.address;
    hosts_[host].agent->run(std::move(slice), *hosts_[host].events);
  }
}

void Job::stopAll() {
  for (int instance = 0; instance < placed_->spec().num_instances; ++instance) {
    const InstanceState state = instances_[static_cast<std::size_t>(instance)].state;
    if (state == InstanceState::kStarting || state == InstanceState::kRunning) stopped_.insert(instance);
  }
  for (Host& host : hosts_) host.agent->stop();
}

// ---- the job's table, and what others want of it

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
      place();
      break;
    case JobAction::kStartAll:
      startAll();
      break;
    case JobAction::kStopAll:
      stopAll();
      break;
    case JobAction::kKillAll:
      for (Host& host : hosts_) host.agent->kill();
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
  // Output that cannot be written is a reason to stop, and not to start again, but none to hurry, nor what
  // decides a job that has failed.
  if (user_signal == SIGPIPE) output_is_lost_ = true;
  if (user_signal == SIGPIPE && exit_policy_.decided()) return;
  exit_policy_.noteUserSignal(user_signal);
  handle(JobEvent::kStop);
}

void Job::signal(int signal) {
  for (Host& host : hosts_) host.agent->signal(signal);
}

void Job::timeOver() {
  time_is_over_ = true;
  if (exit_policy_.decided()) return;  // it is ending already
  log_.append(-1, "its time is over");
  exit_policy_.noteTimeout();
  if (state_ == JobState::kPending) hosts_unanswered_ = static_cast<int>(hosts_.size()) - hosts_described_;
  const bool running = state_ == JobState::kStarting || state_ == JobState::kRunning;
  if (!placed_->spec().stack_traces || !running) return handle(JobEvent::kTimeout);
  for (Host& host : hosts_)
    host.agent->traceStacks([this](std::vector<StackTrace> traces) { traced(std::move(traces)); });
}

void Job::traced(std::vector<StackTrace> traces) {
  stack_traces_.insert(stack_traces_.end(), traces.begin(), traces.end());
  if (++hosts_traced_ == static_cast<int>(hosts_.size())) handle(JobEvent::kTimeout);
}

// Nothing of this attempt is left on any host that we know of.
void Job::endAttempt() {
  end_notices_.forget();
  bool again = !time_is_over_ && restart_policy_.wants(outcome());
  if (!again && !time_is_over_ && why_not_again_.empty()) why_not_again_ = restart_policy_.whyNot(outcome());
  if (again && output_is_lost_) {
    why_not_again_ = "its output cannot be written";
    again = false;
  }
  if (again && !hostFailures().empty()) {
    const Result<model::JobSpec> rest = placed_->without(goneHosts());
    if (!rest.ok()) why_not_again_ = rest.status().message();
    again = rest.ok();
  }
  handle(again ? JobEvent::kRetry
               : (state_ == JobState::kPending ? JobEvent::kFailure : JobEvent::kAllClosed));
}

void Job::waitToRestart() {
  restart_policy_.noteRestart();
  watch_.restarting(outcome(), restart_policy_.restarts());
  exit_policy_ = {};
  instances_lost_ = 0;
  stopped_.clear();
  restart_delay_ = loop_.postAfter(placed_->spec().restart_delay, [this] { handle(JobEvent::kDelayOver); });
}

JobOutcome Job::outcome() const {
  JobOutcome outcome = exit_policy_.outcome();
  outcome.restarts = restart_policy_.restarts();
  outcome.why_not_again = why_not_again_;
  outcome.instances_stopped = static_cast<int>(stopped_.size());
  // One that asked to end the job was still running itself.
  if (outcome.failure && stopped_.contains(outcome.failure->instance)) --outcome.instances_stopped;
  if (!outcome.failure || !outcome.failure->hosts_lost) return outcome;
  // Hosts that are lost together are noticed one after the other.
  const bool placing = instances_lost_ == 0;
  outcome.failure->reason =
      (placing ? "the job cannot be placed on " : "") + describeHosts(hostFailures(), !placing);
  outcome.failure->instances_lost = instances_lost_;
  return outcome;
}

void Job::report() {
  if (timeout_) loop_.cancel(*timeout_);
  if (restart_delay_) loop_.cancel(*restart_delay_);
  end_notices_.forget();
  JobOutcome last = outcome();
  last.stack_traces = std::move(stack_traces_);
  last.hosts_unanswered = hosts_unanswered_;
  watch_.done(last);
}

}  // namespace pop
