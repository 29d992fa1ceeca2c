// SPDX-License-Identifier: Apache-2.0
#include "agent/core/agent_core.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "common/base/check.h"
#include "common/model/end_times.h"

namespace pop::agent {

namespace {

// Instances are started a few at a time, so that signals and the output of running instances are handled in
// between. The batch is large enough to keep the keeper busy.
constexpr int kMaxStarting = 64;

// Between looks at what instances report.
constexpr std::chrono::milliseconds kLookEvery{1000};

}  // namespace

void AgentCore::run(JobSlice slice, AgentEvents& events) {
  POP_CHECK(std::all_of(instances_.begin(), instances_.end(),
                        [](const auto& each) { return each.second == LocalState::kClosed; }));
  slice_ = std::move(slice);
  events_ = &events;
  ladder_.emplace(loop_, slice_.kill_grace, [this](int signal) { descend(signal); });
  cancelKillTimer();
  instances_.clear();
  next_ = 0;
  starting_ = 0;
  stopping_ = false;
  Result<RendezvousPlaces> places = rendezvous_.open(slice_);
  obstacle_ = places.status();
  if (places.ok()) {
    slice_.rendezvous.own_address = slice_.host_address;
    slice_.rendezvous.pmix_port = places->pmix_port;
    slice_.rendezvous.mpi_directory = places->mpi_directory;
  }
  for (InstanceOrder& order : slice_.instances) {
    if (places.ok()) order.env.agent_socket = places->socket;
    instances_[order.env.instance_index] = LocalState::kPending;
  }
  cancelLookTimer();
  if (slice_.reports_wanted) lookAgain();
  startNext();
}

void AgentCore::look() {
  const std::vector<InstanceValue> values = rendezvous_.takeReported();
  if (!values.empty()) events_->onReported(values);
}

void AgentCore::lookAgain() {
  look_ = loop_.postAfter(kLookEvery, [this] {
    look_.reset();
    look();
    if (anyOpen()) lookAgain();
  });
}

void AgentCore::cancelLookTimer() {
  if (look_) loop_.cancel(*std::exchange(look_, std::nullopt));
}

void AgentCore::startNext() {
  while (!stopping_ && !held_ && next_ < slice_.instances.size() && starting_ < kMaxStarting)
    start(slice_.instances[next_++]);
}

void AgentCore::start(const InstanceOrder& order) {
  const int instance = order.env.instance_index;
  ++starting_;
  advance(instance, LocalEvent::kSpawn);
  Result<SpawnRequest> request = obstacle_.ok() ? prepareSpawn({slice_, order, inherited_}) : obstacle_;
  if (request.ok()) {
    processes_.spawn(*request);
    return;
  }
  // Reported from the loop, like every other outcome: the controller is still inside its call of run().
  loop_.post([this, instance, why = request.status().message()] {
    onSpawnFailed(instance, contract::kExitLauncherFailed, why);
  });
}

void AgentCore::stop() {
  if (ladder_) ladder_->terminate();
  cancelPending();
}

void AgentCore::kill() {
  if (ladder_) ladder_->kill();
  cancelPending();
}

// Ctrl-Z stops the instances, so their grace period stops too. Instances that have not been started stay so,
// even if the job's slice arrives only then.
void AgentCore::signal(int signal) {
  if (signal == SIGSTOP) hold();
  signalAll(signal);
  if (signal == SIGCONT) goOn();
}

void AgentCore::hold() {
  held_ = true;
  if (ladder_) ladder_->pause();
}

void AgentCore::goOn() {
  held_ = false;
  if (ladder_) ladder_->resume();
  startNext();
}

// Instances that have not been started are dropped. From the loop: the controller is inside its call of
// stop() or kill().
void AgentCore::cancelPending() {
  if (stopping_) return;
  stopping_ = true;
  loop_.post([this] {
    for (; next_ < slice_.instances.size(); ++next_) {
      const int instance = slice_.instances[next_].env.instance_index;
      onSpawnFailed(instance, contract::kExitSignalBase + SIGTERM, "the job was being stopped");
    }
  });
}

void AgentCore::signalAll(int signal) {
  for (const auto& [instance, state] : instances_) {
    // Also to instances that are just being started: the keeper takes requests in order.
    if (state == LocalState::kSpawning || state == LocalState::kRunning) processes_.signal(instance, signal);
  }
}

// One step of the kill ladder. After the last step there is nothing left to wait for.
void AgentCore::descend(int signal) {
  signalAll(signal);
  if (signal != SIGKILL) return;
  killed_ = loop_.postAfter(kKillTimeout, [this] {
    killed_.reset();
    if (!anyAlive()) return;
    abandoned_ = true;
    processes_.abandon();
  });
}

void AgentCore::cancelKillTimer() {
  if (killed_) loop_.cancel(*killed_);
  killed_.reset();
  abandoned_ = false;
}

bool AgentCore::anyOpen() const {
  return std::any_of(instances_.begin(), instances_.end(),
                     [](const auto& each) { return each.second != LocalState::kClosed; });
}

bool AgentCore::anyAlive() const {
  return std::any_of(instances_.begin(), instances_.end(), [](const auto& each) {
    return each.second == LocalState::kSpawning || each.second == LocalState::kRunning;
  });
}

void AgentCore::onSpawned(int instance, pid_t pid) {
  if (!advance(instance, LocalEvent::kSpawned)) return;
  --starting_;
  events_->onStarted(instance, pid);
  startNext();
}

void AgentCore::onSpawnFailed(int instance, int exit_code, const std::string& why) {
  const bool asked = instances_.at(instance) == LocalState::kSpawning;
  if (!advance(instance, LocalEvent::kSpawnFailed)) return;
  if (asked) --starting_;
  events_->onEnded(instance, {{.code = exit_code}, "could not be started: " + why});
  events_->onClosed(instance);
  startNext();
}

void AgentCore::onReaped(int instance, const contract::ExitStatus& status, const std::string& cause) {
  end(instance,
      {status, cause.empty() ? "" : contract::describe(status) + ": " + cause, rendezvous_.toldBy(instance)});
}

void AgentCore::end(int instance, const InstanceEnd& end) {
  if (slice_.reports_wanted) look();  // for its last report
  if (!advance(instance, LocalEvent::kReaped)) return;
  events_->onEnded(instance, end);
  processes_.drain(instance);
}

void AgentCore::onDrained(int instance) {
  if (advance(instance, LocalEvent::kDrained)) events_->onClosed(instance);
}

void AgentCore::onKeeperLost() {
  // The instances got their parent-death signal; the keeper can no longer report their ends.
  stopping_ = true;
  const std::string why = abandoned_ ? "it had not ended " + std::to_string(kKillTimeout.count()) +
                                           " s after SIGKILL (is it waiting for a device or a file server?)"
                                     : "the keeper process, which holds all instances, was killed";
  const std::map<int, LocalState> before = instances_;
  for (const auto& [instance, state] : before) {
    if (state == LocalState::kPending || state == LocalState::kSpawning)
      onSpawnFailed(instance, contract::kExitLauncherFailed, why);
    if (state == LocalState::kRunning)
      end(instance, {{.code = contract::kExitLauncherFailed}, "was lost: " + why});
  }
}

bool AgentCore::advance(int instance, LocalEvent event) {
  LocalState& state = instances_.at(instance);
  const auto next = step(state, event);
  if (!next) return false;
  state = *next;
  return true;
}

}  // namespace pop::agent
