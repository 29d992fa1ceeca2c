// SPDX-License-Identifier: Apache-2.0
#include "controller/core/attempt.h"

#include <memory>
#include <optional>
#include <utility>

#include "common/base/text.h"
#include "controller/core/host_bindings.h"

namespace pop {

Attempt::Attempt(Loop& loop, model::JobSpec spec, JobHosts& hosts, const EventLog& log, AttemptEvents& events)
    : placed_(std::move(spec)),
      hosts_(hosts),
      log_(log),
      events_(events),
      instances_(placed_.spec().num_instances),
      fences_{newFence(), newFence(), newFence()},
      end_notices_(loop, [this](const SharedEndNotices& end_notices) { announce(end_notices); }),
      failures_(loop, [this](Failure failure) { events_.failed(std::move(failure)); }) {
  for (int host = 0; host < hosts.count(); ++host)
    open_on_.push_back(placed_.instancesOn(host).end - placed_.instancesOn(host).first);
  hosts.reportTo(*this);
}

Status Attempt::bind() {
  std::vector<model::HostTopology> topologies;
  for (int host = 0; host < hosts_.count(); ++host) topologies.push_back(hosts_.facts(host).topology);
  POP_ASSIGN_OR_RETURN(bindings_, bindHosts(spec(), placed_.envs(), topologies));
  return {};
}

contract::Rendezvous Attempt::rendezvous() const {
  std::vector<HostAddress> addresses;
  for (int host = 0; host < hosts_.count(); ++host) {
    HostAddress& address = addresses.emplace_back();
    address.address = hosts_.facts(host).address;
    for (const int port : hosts_.facts(host).ports) address.ports.push_back(std::to_string(port));
  }
  return placed_.envs().rendezvous(addresses);
}

void Attempt::start(const std::string& job_id, const std::string& key, int restarts, bool reports_wanted) {
  const contract::Rendezvous everybody = rendezvous();
  runs_ = true;
  for (int instance = 0; instance < instances_.count(); ++instance)
    instances_.advance(instance, InstanceEvent::kStart);
  // Data that an instance of a failed attempt still holds must not match the next attempt.
  const std::string id = restarts == 0 ? job_id : job_id + '-' + std::to_string(restarts);
  for (int host = 0; host < hosts_.count(); ++host) {
    JobSlice slice = placed_.slice(host, id, restarts, everybody, bindings_[static_cast<std::size_t>(host)]);
    slice.key = key;
    slice.reports_wanted = reports_wanted;
    slice.host_address = hosts_.facts(host).address;
    hosts_.run(host, std::move(slice));
  }
}

void Attempt::stop() {
  stopped_ = instances_.open();
  hosts_.forEachAgent([](Agent& agent) { agent.stop(); });
}

void Attempt::describeEnd(JobOutcome& outcome) const {
  outcome.instances_stopped = static_cast<int>(stopped_.size());
  // The instance that asked to end the job was still running.
  if (outcome.failure && stopped_.contains(outcome.failure->instance)) --outcome.instances_stopped;
  if (!outcome.failure || !outcome.failure->hosts_lost) return;
  // Hosts that are lost together are noticed one after the other.
  const bool placing = instances_lost_ == 0;
  outcome.failure->reason = (placing ? "the job cannot be placed on " : "") +
                            describeHosts(hosts_.failures(spec()), !placing, "\n  ");
  outcome.failure->instances_lost = instances_lost_;
}

void Attempt::forgetEnd() {
  instances_lost_ = 0;
  stopped_.clear();
}

// ---- reports of agents

void Attempt::onStarted(int instance, pid_t pid) {
  instances_.setPid(instance, pid);
  instances_.advance(instance, InstanceEvent::kStarted);
  log_.append(instance, "started, pid " + std::to_string(pid), EventKind::kInstanceStarted);
  if (instances_.noneIsStarting()) events_.allStarted();
}

void Attempt::onEnded(int instance, const InstanceEnd& end) {
  const std::string reason = end.reason.empty() ? describe(end.status) : end.reason;
  noteEnd(instance, reason);
  // First the job, then the other instances: one that fails because of this notice must come second.
  if (end.status.success()) {
    ended_well_.insert(instance);
  } else {
    failures_.add(failureOf(instance, end, reason), causeOf(instance, end));
  }
  failures_.ended(instance);
  tellEnd(instance, end.status.success(), reason);
}

// An instance that ended well although this one needed it is the one that failed the job.
Failure Attempt::failureOf(int instance, const InstanceEnd& end, const std::string& reason) const {
  const bool was_left = ended_well_.contains(end.told_by);
  const int failed = was_left ? end.told_by : instance;
  return {.instance = failed,
          .pid = instances_.pid(failed),
          .reason = was_left
                        ? "exited with code 0 although " + nameOf(instance) + " needed it, which " + reason
                        : reason,
          .exit_code = shellExitCode(end.status),
          .lost = end.isLost(),
          .host = hostNameOf(failed)};
}

// An instance's report may be anything.
int Attempt::causeOf(int instance, const InstanceEnd& end) const {
  const int cause = end.told_by;
  if (cause < 0 || cause >= instances_.count() || cause == instance) return -1;
  return instances_.state(cause) == InstanceState::kRunning ? cause : -1;
}

void Attempt::onClosed(int instance) {
  close(instance);
  endIfAllAreClosed();
}

// Processes left behind by an attempt that is over may still be connected.
void Attempt::onAborted(int instance, int exit_code, const std::string& message) {
  if (!runs_) return;
  const std::string said = printable(message);  // it may be anything
  log_.append(instance, "asks to end the job: " + said);
  events_.failed({.instance = instance,
                  .pid = instances_.pid(instance),
                  .reason = "asked to end the job: " + said,
                  .exit_code = exit_code,
                  .host = hostNameOf(instance)});
}

void Attempt::onReported(const std::vector<InstanceValue>& values) {
  if (runs_) events_.reported(values);
}

FenceJoin Attempt::newFence() const {
  return {hosts_.count(), placed_.hostsWithInstances()};
}

void Attempt::onFenceReached(int host, FenceId fence, PutValues values) {
  if (!runs_) return;
  std::optional<PutValues> everybody =
      fences_.at(static_cast<std::size_t>(fence)).arrive(host, std::move(values));
  if (!everybody) return;
  const auto shared = std::make_shared<const PutValues>(std::move(*everybody));
  hosts_.forEachAgent([&](Agent& agent) { agent.releaseFence(fence, shared); });
}

void Attempt::onLost(int host, const Status& why) {
  hosts_.lose(host, why);
  const bool loses_instances = runs_ && openOn(host) > 0;
  // Reports now what the summary does not contain.
  log_.append(-1, describeHosts({{spec().hosts[static_cast<std::size_t>(host)].name, why.message()}}, true),
              loses_instances && events_.endTellsLoss() ? EventKind::kNote : EventKind::kWarning);
  if (!loses_instances) return;
  instances_lost_ += openOn(host);
  events_.failed({.exit_code = contract::kExitLauncherFailed, .hosts_lost = true});
  const PlacedJob::Range range = placed_.instancesOn(host);
  for (int instance = range.first; instance < range.end; ++instance) lose(instance);
  endIfAllAreClosed();
}

// ---- ends of instances

void Attempt::lose(int instance) {
  const InstanceState state = instances_.state(instance);
  if (state == InstanceState::kClosed) return;
  stopped_.erase(instance);
  if (state != InstanceState::kEnded) {
    noteEnd(instance, "was lost with its host");
    failures_.ended(instance);
    tellEnd(instance, false, "was lost with its host");
  }
  close(instance);
}

void Attempt::noteEnd(int instance, const std::string& reason) {
  instances_.advance(instance, InstanceEvent::kEnded);
  log_.append(instance, reason, EventKind::kInstanceEnded);
}

void Attempt::tellEnd(int instance, bool clean, const std::string& reason) {
  end_notices_.add({instance, clean, nameOf(instance) + ' ' + reason});
  if (instances_.noneIsStarting()) events_.allStarted();
}

std::string Attempt::nameOf(int instance) const {
  const pid_t pid = instances_.pid(instance);
  const std::string where = hosts_.count() > 1 ? " on " + hostNameOf(instance) : std::string();
  return "instance " + std::to_string(instance) +
         (pid != 0 ? " (pid " + std::to_string(pid) + where + ")" : std::string());
}

void Attempt::close(int instance) {
  instances_.advance(instance, InstanceEvent::kClosed);
  --openOn(hostOf(instance));
  log_.append(instance, "is closed", EventKind::kInstanceClosed);
}

void Attempt::endIfAllAreClosed() {
  if (!instances_.allAreClosed()) return;
  failures_.release();
  runs_ = false;
  end_notices_.forget();
  events_.attemptOver();
}

// Hosts whose instances have all ended need no notice.
void Attempt::announce(const SharedEndNotices& end_notices) {
  for (int host = 0; host < hosts_.count(); ++host) {
    if (openOn(host) > 0) hosts_.agent(host).announce(end_notices);
  }
}

int Attempt::hostOf(int instance) const {
  return placed_.placement()[static_cast<std::size_t>(instance)].host;
}

const std::string& Attempt::hostNameOf(int instance) const {
  return spec().hosts[static_cast<std::size_t>(hostOf(instance))].name;
}

}  // namespace pop
