// SPDX-License-Identifier: Apache-2.0
// Stands between the job and one agent, and writes down what the job is told, in order: from that alone
// follows what the job must say of itself.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/ports/agent_port.h"

namespace pop::sim {

/// What has been told of one attempt of a job, by all agents.
struct AttemptRecord {
  struct Told {
    int started = 0;
    int ended = 0;
    int closed = 0;
    bool failed = false;
  };
  std::map<int, Told> instances;
  std::optional<int> first_failing_instance;  ///< -1: a host's loss
  std::optional<int> first_exit_code;
  std::vector<int> lost_hosts;
  bool decided_before = false;  ///< by the user, or the time limit

  void fail(int instance, int exit_code) {
    if (first_failing_instance || decided_before) return;
    first_failing_instance = instance;
    first_exit_code = exit_code;
  }
};

class SpyAgent final : public Agent, private AgentEvents {
 public:
  SpyAgent(Agent& agent, int host, AttemptRecord& record, std::function<void(const std::string&)> broken)
      : agent_(agent), host_(host), record_(record), broken_(std::move(broken)) {}

  void describe(int port_count, model::TopologyDetail detail,
                std::function<void(Result<HostFacts>)> reply) override {
    agent_.describe(port_count, detail, [this, reply = std::move(reply)](Result<HostFacts> facts) {
      if (!facts.ok()) record_.lost_hosts.push_back(host_);
      reply(std::move(facts));
    });
  }
  void run(JobSlice slice, AgentEvents& events) override {
    events_ = &events;
    for (const InstanceOrder& each : slice.instances) {
      record_.instances[each.env.instance_index];
      own_.push_back(each.env.instance_index);
    }
    agent_.run(std::move(slice), *this);
  }
  void signal(int signal) override { agent_.signal(signal); }
  void traceStacks(std::function<void(std::vector<StackTrace>)> reply) override {
    agent_.traceStacks(std::move(reply));
  }
  void stop() override { agent_.stop(); }
  void kill() override { agent_.kill(); }
  void releaseFence(FenceId fence, const SharedPutValues& values) override {
    agent_.releaseFence(fence, values);
  }
  void announce(const SharedEndNotices& end_notices) override { agent_.announce(end_notices); }

  /// A new attempt begins.
  void forget() { own_.clear(); }
  const std::vector<int>& instances() const { return own_; }

 private:
  AttemptRecord::Told& told(int instance) { return record_.instances[instance]; }
  void expect(bool holds, int instance, const char* what) {
    if (!holds)
      broken_("instance " + std::to_string(instance) + " on host " + std::to_string(host_) + ' ' + what);
  }

  void onStarted(int instance, pid_t pid) override {
    expect(++told(instance).started == 1 && told(instance).ended == 0, instance, "started twice or late");
    events_->onStarted(instance, pid);
  }
  void onEnded(int instance, const InstanceEnd& end) override {
    expect(++told(instance).ended == 1 && told(instance).closed == 0, instance, "ended twice or late");
    if (!end.status.success()) record_.fail(instance, contract::shellExitCode(end.status));
    events_->onEnded(instance, end);
  }
  void onClosed(int instance) override {
    expect(++told(instance).closed == 1 && told(instance).ended == 1, instance, "closed twice or early");
    events_->onClosed(instance);
  }
  void onAborted(int instance, int exit_code, const std::string& message) override {
    record_.fail(instance, exit_code);
    events_->onAborted(instance, exit_code, message);
  }
  void onFenceReached(FenceId fence, PutValues values) override {
    events_->onFenceReached(fence, std::move(values));
  }
  void onReported(const std::vector<InstanceValue>& values) override { events_->onReported(values); }
  void onLost(const Status& why) override {
    record_.lost_hosts.push_back(host_);
    for (const int instance : own_) {
      if (told(instance).closed == 0) record_.fail(-1, contract::kExitLauncherFailed);
    }
    events_->onLost(why);
  }

  Agent& agent_;
  const int host_;
  AttemptRecord& record_;
  const std::function<void(const std::string&)> broken_;
  AgentEvents* events_ = nullptr;
  std::vector<int> own_;
};

}  // namespace pop::sim
