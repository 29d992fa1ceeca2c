// SPDX-License-Identifier: Apache-2.0
#include "agent/core/agent_core.h"

#include <utility>

#include "agent/core/hooks.h"
#include "common/base/check.h"

namespace pop::agent {

void AgentCore::run(JobSlice slice, AgentEvents& events) {
  POP_CHECK(events_ == nullptr);
  slice_ = std::move(slice);
  events_ = &events;
  ladder_.emplace(loop_, slice_.kill_grace, [this](int signal) { signalAll(signal); });
  const Result<std::string> socket = rendezvous_.open(slice_);
  for (InstanceOrder& order : slice_.instances) {
    if (socket.ok()) order.env.agent_socket = socket.value();
    instances_[order.env.instance_index] = LocalState::kSpawning;
  }
  for (const InstanceOrder& order : slice_.instances) start(order, socket.status());
}

void AgentCore::start(const InstanceOrder& order, const Status& obstacle) {
  Result<SpawnRequest> request = obstacle.ok() ? prepareSpawn({slice_, order}) : obstacle;
  if (request.ok()) {
    processes_.spawn(*request);
    return;
  }
  // Reported from the loop, like every other outcome: the controller is still inside its call of run().
  loop_.post([this, instance = order.env.instance_index, why = request.status().message()] {
    onSpawnFailed(instance, contract::kExitLauncherFailed, why);
  });
}

void AgentCore::stop() {
  if (ladder_) ladder_->terminate();
}

void AgentCore::kill() {
  if (ladder_) ladder_->kill();
}

void AgentCore::signalAll(int signal) {
  for (const auto& [instance, state] : instances_) {
    // Also to those whose start is under way: the keeper takes requests in order.
    if (state == LocalState::kSpawning || state == LocalState::kRunning) processes_.signal(instance, signal);
  }
}

void AgentCore::onSpawned(int instance, pid_t pid) {
  if (advance(instance, LocalEvent::kSpawned)) events_->onStarted(instance, pid);
}

void AgentCore::onSpawnFailed(int instance, int exit_code, const std::string& why) {
  if (!advance(instance, LocalEvent::kSpawnFailed)) return;
  events_->onEnded(instance, {{.code = exit_code}, "could not be started: " + why});
  events_->onClosed(instance);
}

void AgentCore::onReaped(int instance, const contract::ExitStatus& status) {
  end(instance, {status, {}});
}

void AgentCore::end(int instance, const InstanceEnd& end) {
  if (!advance(instance, LocalEvent::kReaped)) return;
  events_->onEnded(instance, end);
  processes_.drain(instance);
}

void AgentCore::onDrained(int instance) {
  if (advance(instance, LocalEvent::kDrained)) events_->onClosed(instance);
}

void AgentCore::onKeeperLost() {
  // The instances got their parent-death signal; nobody will say so any more.
  const std::string why = "the keeper process, which holds all instances, was killed";
  const std::map<int, LocalState> before = instances_;
  for (const auto& [instance, state] : before) {
    if (state == LocalState::kSpawning) onSpawnFailed(instance, contract::kExitLauncherFailed, why);
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
