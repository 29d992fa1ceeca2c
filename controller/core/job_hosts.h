// SPDX-License-Identifier: Apache-2.0
// The hosts of a job, through all its attempts: their agents, the agents' descriptions of them, and which
// hosts are lost.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/ports/agent_port.h"
#include "controller/core/host_failures.h"
#include "controller/core/placed_job.h"

namespace pop {

/// The reports of agents, as in AgentEvents, with the host where the instance does not determine it.
class HostReports {
 public:
  virtual ~HostReports() = default;
  virtual void onStarted(int instance, pid_t pid) = 0;
  virtual void onEnded(int instance, const InstanceEnd& end) = 0;
  virtual void onClosed(int instance) = 0;
  virtual void onAborted(int instance, int exit_code, const std::string& message) = 0;
  virtual void onReported(const std::vector<InstanceValue>& values) = 0;
  virtual void onFenceReached(int host, FenceId fence, PutValues values) = 0;
  virtual void onLost(int host, const Status& why) = 0;
};

class JobHosts {
 public:
  explicit JobHosts(const std::vector<Agent*>& agents);
  ~JobHosts();

  /// Sets the receiver of the agents' reports from now on; it must outlive the last report.
  void reportTo(HostReports& reports) { reports_ = &reports; }

  int count() const { return static_cast<int>(hosts_.size()); }
  const HostFacts& facts(int host) const { return at(host).facts; }
  int unanswered() const { return count() - described_; }

  /// Asks all agents to describe their hosts; calls `done` when the last one has answered.
  void describe(const PlacedJob& placed, std::function<void()> done);
  /// Corrects the addresses of all hosts, in their order.
  void correct(const std::function<void(std::vector<std::string>& addresses)>& correct);

  void run(int host, JobSlice slice);
  Agent& agent(int host) { return *at(host).agent; }
  template <typename Call>
  void forEachAgent(const Call& call) {
    for (const Host& host : hosts_) call(*host.agent);
  }

  // ---- failed hosts

  void lose(int host, const Status& why) { at(host).failure = why; }
  bool anyGone() const;
  std::vector<bool> gone() const;
  std::vector<HostFailure> failures(const model::JobSpec& spec) const;
  /// The remaining hosts are renumbered. Later reports of the removed hosts' agents are dropped.
  void leaveOutGone();

 private:
  class Events;  // knows which agent an event came from
  struct Host {
    Agent* agent = nullptr;
    std::unique_ptr<Events> events;
    HostFacts facts;
    Status failure;  ///< why the host has failed; OK: it has not
  };

  Host& at(int host) { return hosts_[static_cast<std::size_t>(host)]; }
  const Host& at(int host) const { return hosts_[static_cast<std::size_t>(host)]; }

  HostReports* reports_ = nullptr;
  std::vector<Host> hosts_;
  std::vector<std::unique_ptr<Events>> left_out_;  ///< their agents still report to them
  int described_ = 0;
};

}  // namespace pop
