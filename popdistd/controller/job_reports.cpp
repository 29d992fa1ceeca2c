// SPDX-License-Identifier: Apache-2.0
// What a job does about what its agents report.
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"
#include "popdistd/controller/job.h"
#include "popdistd/controller/job_host_events.h"

namespace pop {

void Job::onStarted(int instance, pid_t pid) {
  instances_[static_cast<std::size_t>(instance)].pid = pid;
  advance(instance, InstanceEvent::kStarted);
  log_.append(instance, "started, pid " + std::to_string(pid), EventKind::kInstanceStarted);
  if (inState(InstanceState::kStarting) == 0) handle(JobEvent::kAllStarted);
}

void Job::onEnded(int instance, const InstanceEnd& end) {
  const std::string reason = end.reason.empty() ? describe(end.status) : end.reason;
  noteEnd(instance, reason);
  // First the policy, then the others: an instance that fails because of this news comes second.
  if (!end.status.success()) {
    fail({.instance = instance,
          .pid = instances_[static_cast<std::size_t>(instance)].pid,
          .reason = reason,
          .exit_code = shellExitCode(end.status),
          .lost = !end.reason.empty()});
  }
  tellEnd(instance, end.status.success(), reason);
}

void Job::onClosed(int instance) {
  close(instance);
  if (inState(InstanceState::kClosed) == placed_->spec().num_instances) endAttempt();
}

// What an attempt that is over has left behind may still be connected.
bool Job::isBetweenAttempts() const {
  return state_ == JobState::kRestarting || state_ == JobState::kPending;
}

void Job::onAborted(int instance, int exit_code, const std::string& message) {
  if (isBetweenAttempts()) return;
  const std::string said = printable(message);  // it may be anything
  log_.append(instance, "asks to end the job: " + said);
  fail({.instance = instance,
        .pid = instances_[static_cast<std::size_t>(instance)].pid,
        .reason = "asked to end the job: " + said,
        .exit_code = exit_code});
}

void Job::onFenceReached(int host, PutValues values) {
  if (isBetweenAttempts()) return;
  std::optional<PutValues> everybody = fence_->arrive(host, std::move(values));
  if (!everybody) return;
  const auto shared = std::make_shared<const PutValues>(std::move(*everybody));
  for (Host& each : hosts_) each.agent->releaseFence(shared);
}

void Job::onLost(int host, const Status& why) {
  Host& lost = hosts_[static_cast<std::size_t>(host)];
  lost.failure = why;
  const bool attempt_runs = state_ == JobState::kStarting || state_ == JobState::kRunning ||
                            state_ == JobState::kStopping || state_ == JobState::kKilling;
  const bool decided = exit_policy_.decided();
  const bool by_loss =
      decided && exit_policy_.outcome().failure && exit_policy_.outcome().failure->hosts_lost;
  // What the summary does not tell is told now.
  log_.append(
      -1, describeHosts({{placed_->spec().hosts[static_cast<std::size_t>(host)].name, why.message()}}, true),
      attempt_runs && lost.instances_open > 0 && (!decided || by_loss) ? EventKind::kNote
                                                                       : EventKind::kWarning);
  if (!attempt_runs || lost.instances_open == 0) return;
  const PlacedJob::Range range = placed_->instancesOn(host);
  instances_lost_ += lost.instances_open;
  fail({.exit_code = contract::kExitLauncherFailed, .hosts_lost = true});
  for (int instance = range.first; instance < range.end; ++instance) lose(instance);
  if (inState(InstanceState::kClosed) == placed_->spec().num_instances) endAttempt();
}

void Job::lose(int instance) {
  const InstanceState state = instances_[static_cast<std::size_t>(instance)].state;
  if (state == InstanceState::kClosed) return;
  stopped_.erase(instance);
  if (state != InstanceState::kEnded) {
    noteEnd(instance, "was lost with its host");
    tellEnd(instance, false, "was lost with its host");
  }
  close(instance);
}

// ----

void Job::noteEnd(int instance, const std::string& reason) {
  advance(instance, InstanceEvent::kEnded);
  log_.append(instance, reason, EventKind::kInstanceEnded);
}

void Job::tellEnd(int instance, bool clean, const std::string& reason) {
  const pid_t pid = instances_[static_cast<std::size_t>(instance)].pid;
  std::string who = "instance " + std::to_string(instance);
  const std::string where =
      hosts_.size() > 1 ? " on " + placed_->spec().hosts[hostIndexOf(instance)].name : std::string();
  if (pid != 0) who += " (pid " + std::to_string(pid) + where + ")";
  end_notices_.add({instance, clean, who + ' ' + reason});
  if (inState(InstanceState::kStarting) == 0) handle(JobEvent::kAllStarted);
}

void Job::close(int instance) {
  advance(instance, InstanceEvent::kClosed);
  --hosts_[hostIndexOf(instance)].instances_open;
  log_.append(instance, "is closed", EventKind::kInstanceClosed);
}

// Those whose instances have all ended need not know.
void Job::announce(const SharedEndNotices& end_notices) {
  for (Host& host : hosts_) {
    if (host.instances_open > 0) host.agent->announce(end_notices);
  }
}

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
  failure.after = log_.elapsed();
  if (failure.instance >= 0) failure.host = placed_->spec().hosts[hostIndexOf(failure.instance)].name;
  exit_policy_.noteFailure(std::move(failure));
  if (first) handle(JobEvent::kFailure);
}

// ---- hosts

std::size_t Job::hostIndexOf(int instance) const {
  return static_cast<std::size_t>(placed_->placement()[static_cast<std::size_t>(instance)].host);
}

std::vector<bool> Job::goneHosts() const {
  std::vector<bool> gone;
  for (const Host& host : hosts_) gone.push_back(!host.failure.ok());
  return gone;
}

std::vector<HostFailure> Job::hostFailures() const {
  std::vector<HostFailure> failures;
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (!hosts_[host].failure.ok())
      failures.push_back({placed_->spec().hosts[host].name, hosts_[host].failure.message()});
  }
  return failures;
}

}  // namespace pop
