// SPDX-License-Identifier: Apache-2.0
#include "popdistd/controller/job.h"

#include <csignal>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"

namespace pop {

class Job::HostEvents final : public AgentEvents {
 public:
  HostEvents(Job& job, int host) : job_(job), host_(host) {}

  void onStarted(int instance, pid_t pid) override { job_.onStarted(instance, pid); }
  void onEnded(int instance, const InstanceEnd& end) override { job_.onEnded(instance, end); }
  void onClosed(int instance) override { job_.onClosed(instance); }
  void onAborted(int instance, int exit_code, const std::string& message) override {
    job_.onAborted(instance, exit_code, message);
  }
  void onFenceReached(PutValues values) override { job_.onFenceReached(host_, std::move(values)); }
  void onLost(const Status& why) override { job_.onLost(host_, why); }

 private:
  Job& job_;
  const int host_;
};

Job::Job(Loop& loop, std::string id, model::JobSpec spec, std::vector<Agent*> agents, JobWatch watch)
    : loop_(loop),
      id_(std::move(id)),
      spec_(std::move(spec)),
      placement_(model::place(spec_)),
      envs_(spec_, placement_),
      fence_(agents.size()),
      restart_policy_(spec_.max_restarts),
      log_(loop, watch.event),
      watch_(std::move(watch)) {
  POP_CHECK(agents.size() == spec_.hosts.size());
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
  if (spec_.timeout.count() > 0) timeout_ = loop_.postAfter(spec_.timeout, [this] { timeOver(); });
  place();
}

void Job::place() {
  instances_.assign(placement_.size(), {});
  in_state_ = {};
  inState(InstanceState::kPending) = spec_.num_instances;
  hosts_described_ = 0;
  log_.append(-1, "placing " + counted(spec_.num_instances, "instance") + " of " +
                      inQuotes(spec_.programs.front().command.front()) + " on " +
                      counted(static_cast<std::int64_t>(hosts_.size()), "host"));
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    hosts_[host].agent->describe(
        envs_.portsOn(static_cast<int>(host)), model::detailFor(spec_.binding),
        [this, host](Result<HostFacts> facts) { described(static_cast<int>(host), std::move(facts)); });
  }
}

void Job::stop(int user_signal) {
  // Output that nobody reads any more is a reason to stop, not one to hurry, nor what decides a job that has
  // failed.
  if (user_signal == SIGPIPE && exit_policy_.decided()) return;
  exit_policy_.noteUserSignal(user_signal);
  handle(JobEvent::kStop);
}

void Job::signal(int signal) {
  for (Host& host : hosts_) host.agent->signal(signal);
}

void Job::described(int host, Result<HostFacts> facts) {
  if (state_ != JobState::kPending) return;  // the user, or the time limit, was quicker
  if (!facts.ok()) {
    fail({.reason = "cannot be placed on host " + spec_.hosts[static_cast<std::size_t>(host)].name + ": " +
                    facts.status().message(),
          .exit_code = contract::kExitLauncherFailed});
    return;
  }
  hosts_[static_cast<std::size_t>(host)].facts = std::move(facts).value();
  if (++hosts_described_ < static_cast<int>(hosts_.size())) return;
  bindAll();
}

void Job::bindAll() {
  std::vector<model::HostTopology> topologies;
  for (const Host& host : hosts_) topologies.push_back(host.facts.topology);
  Result<std::vector<model::Bindings>> bindings = bindHosts(spec_, envs_, topologies);
  if (!bindings.ok()) {
    return fail({.reason = bindings.status().message(), .exit_code = contract::kExitLauncherFailed});
  }
  bindings_ = std::move(*bindings);
  if (restart_policy_.restarts() == 0) {
    for (std::string& warning : warningsOf(spec_, bindings_))
      log_.append(-1, std::move(warning), EventKind::kWarning);
    if (watch_.placed) watch_.placed(placement_, bindings_);
  }
  handle(JobEvent::kPlaced);
}

// ---- the job's table

void Job::handle(JobEvent event) {
  const auto transition = step(state_, event);
  if (!transition) return;
  if (state_ != transition->to) {
    state_ = transition->to;
    log_.append(-1, std::string("job is ") + nameOf(state_),
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
      for (Host& host : hosts_) host.agent->stop();
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

void Job::startAll() {
  const contract::Rendezvous everybody = rendezvous();
  for (int instance = 0; instance < spec_.num_instances; ++instance) advance(instance, InstanceEvent::kStart);
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    hosts_[host].agent->run(sliceFor(static_cast<int>(host), everybody), *hosts_[host].events);
  }
}

void Job::allClosed() {
  const bool again = !time_is_over_ && restart_policy_.wants(exit_policy_.outcome());
  handle(again ? JobEvent::kRetry : JobEvent::kAllClosed);
}

void Job::waitToRestart() {
  restart_policy_.noteRestart();
  watch_.restarting(exit_policy_.outcome(), restart_policy_.restarts());
  exit_policy_ = {};
  fence_.reset();
  restart_delay_ = loop_.postAfter(spec_.restart_delay, [this] { handle(JobEvent::kDelayOver); });
}

void Job::timeOver() {
  time_is_over_ = true;
  if (exit_policy_.decided()) return;  // it is ending already
  log_.append(-1, "its time is over");
  exit_policy_.noteTimeout();
  const bool running = state_ == JobState::kStarting || state_ == JobState::kRunning;
  if (!spec_.stack_traces || !running) return handle(JobEvent::kTimeout);
  for (Host& host : hosts_)
    host.agent->traceStacks([this](std::vector<StackTrace> traces) { traced(std::move(traces)); });
}

void Job::traced(std::vector<StackTrace> traces) {
  stack_traces_.insert(stack_traces_.end(), traces.begin(), traces.end());
  if (++hosts_traced_ == static_cast<int>(hosts_.size())) handle(JobEvent::kTimeout);
}

void Job::report() {
  if (timeout_) loop_.cancel(*timeout_);
  if (restart_delay_) loop_.cancel(*restart_delay_);
  JobOutcome outcome = exit_policy_.outcome();
  outcome.restarts = restart_policy_.restarts();
  outcome.stack_traces = std::move(stack_traces_);
  watch_.done(outcome);
}

contract::Rendezvous Job::rendezvous() const {
  std::vector<HostAddress> addresses;
  for (const Host& host : hosts_) {
    HostAddress& address = addresses.emplace_back();
    address.address = host.facts.address;
    for (const int port : host.facts.ports) address.ports.push_back(std::to_string(port));
  }
  return envs_.rendezvous(addresses);
}

// What an instance of an attempt that failed still holds must not fit the next one.
std::string Job::attemptId() const {
  const int restarts = restart_policy_.restarts();
  return restarts == 0 ? id_ : id_ + '-' + std::to_string(restarts);
}

JobSlice Job::sliceFor(int host, const contract::Rendezvous& rendezvous) const {
  JobSlice slice{.job_id = attemptId(),
                 .num_instances = spec_.num_instances,
                 .programs = spec_.programs,
                 .rendezvous = rendezvous,
                 .poplar = envs_.poplarTarget(),
                 .env_families = spec_.env_families,
                 .environment = spec_.environment,
                 .stdin_policy = spec_.stdin_policy,
                 .kill_grace = spec_.kill_grace};
  for (const model::InstancePlacement& placement : placement_) {
    if (placement.host != host) continue;
    slice.instances.push_back(envs_.order(placement, attemptId(), restart_policy_.restarts()));
    slice.instances.back().binding = bindings_[static_cast<std::size_t>(host)]
                                         .instances[static_cast<std::size_t>(placement.local_instance)];
  }
  return slice;
}

// ---- what the agents report

void Job::onStarted(int instance, pid_t pid) {
  instances_[static_cast<std::size_t>(instance)].pid = pid;
  advance(instance, InstanceEvent::kStarted);
  log_.append(instance, "started, pid " + std::to_string(pid), EventKind::kInstanceStarted);
  if (inState(InstanceState::kStarting) == 0) handle(JobEvent::kAllStarted);
}

void Job::onEnded(int instance, const InstanceEnd& end) {
  const pid_t pid = instances_[static_cast<std::size_t>(instance)].pid;
  advance(instance, InstanceEvent::kEnded);
  const std::string reason = end.reason.empty() ? describe(end.status) : end.reason;
  log_.append(instance, reason, EventKind::kInstanceEnded);

  // First the policy, then the others: an instance that fails because of this news comes second.
  if (!end.status.success()) {
    fail({.instance = instance,
          .pid = pid,
          .reason = reason,
          .exit_code = shellExitCode(end.status),
          .lost = !end.reason.empty()});
  }
  std::string who = "instance " + std::to_string(instance);
  if (pid != 0) who += " (pid " + std::to_string(pid) + ")";
  const auto obituaries = std::make_shared<const std::vector<Obituary>>(
      std::vector<Obituary>{{instance, end.status.success(), who + ' ' + reason}});
  for (Host& host : hosts_) host.agent->announce(obituaries);
  if (inState(InstanceState::kStarting) == 0) handle(JobEvent::kAllStarted);
}

void Job::onClosed(int instance) {
  advance(instance, InstanceEvent::kClosed);
  log_.append(instance, "is closed", EventKind::kInstanceClosed);
  if (inState(InstanceState::kClosed) == spec_.num_instances) allClosed();
}

void Job::onAborted(int instance, int exit_code, const std::string& message) {
  // What an attempt that is over has left behind may still be connected.
  if (state_ == JobState::kRestarting || state_ == JobState::kPending) return;
  log_.append(instance, "asks to end the job: " + message);
  fail({.instance = instance,
        .pid = instances_[static_cast<std::size_t>(instance)].pid,
        .reason = "asked to end the job: " + message,
        .exit_code = exit_code});
}

void Job::onFenceReached(int host, PutValues values) {
  std::optional<PutValues> everybody = fence_.arrive(host, std::move(values));
  if (!everybody) return;
  const auto shared = std::make_shared<const PutValues>(std::move(*everybody));
  for (Host& each : hosts_) each.agent->releaseFence(shared);
}

void Job::onLost(int host, const Status& why) {
  const std::string lost =
      "host " + spec_.hosts[static_cast<std::size_t>(host)].name + " was lost: " + why.message();
  for (const model::InstancePlacement& each : placement_) {
    if (each.host != host) continue;
    const InstanceState state = instances_[static_cast<std::size_t>(each.instance)].state;
    if (state == InstanceState::kStarting || state == InstanceState::kRunning)
      onEnded(each.instance, {{.code = contract::kExitLauncherFailed}, lost});
    if (state != InstanceState::kClosed) onClosed(each.instance);
  }
}

// ----

void Job::advance(int instance, InstanceEvent event) {
  InstanceState& state = instances_[static_cast<std::size_t>(instance)].state;
  const auto next = step(state, event);
  POP_CHECK(next.has_value());  // an agent that breaks its own order of events is our bug
  --inState(state);
  state = *next;
  ++inState(state);
}

void Job::fail(Failure failure) {
  const bool first = !exit_policy_.decided();
  failure.at = log_.now();
  exit_policy_.noteFailure(std::move(failure));
  if (first) handle(JobEvent::kFailure);
}

}  // namespace pop
