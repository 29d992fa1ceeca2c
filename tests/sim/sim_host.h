// SPDX-License-Identifier: Apache-2.0
// One host of a simulated cluster: the real agent session and agent core over a keeper, a rendezvous and
// instances that are made up.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/core/agent_core.h"
#include "agent/core/agent_session.h"
#include "agent/rendezvous/fence.h"
#include "tests/sim/sim_instance.h"
#include "tests/sim/sim_link.h"

namespace pop::sim {

class SimHost final : public Agent, private Processes, private Rendezvous, private agent::InputSink {
 public:
  /// What the world wants to know, and what the real host has besides its agent.
  struct Events {
    std::function<void(int instance)> fence_entered;
    std::function<void()> fence_released;
    std::function<void(int instance, std::int64_t bytes)> written;
  };

  SimHost(testing::FakeLoop& clock, SplitMix64& random, SimLink& link, const Manners& manners, int index,
          Events events);

  SimProcess& process() { return process_; }
  agent::AgentSession& session() { return session_; }

  int alive() const;
  const std::map<int, SimInstance>& instances() const { return instances_; }
  bool killedByAgent(int instance) const;
  bool over() const { return over_; }
  int tidiedAway() const { return tidied_away_; }

  /// The agent's process and its keeper die, and all instances with them.
  void crash();

  // ---- the agent port, as LocalAgent has it
  void describe(int port_count, model::TopologyDetail detail,
                std::function<void(Result<HostFacts>)> reply) override;
  void run(JobSlice slice, AgentEvents& events) override;
  void signal(int signal) override { core_.signal(signal); }
  void traceStacks(std::function<void(std::vector<StackTrace>)> reply) override;
  void stop() override { core_.stop(); }
  void kill() override { core_.kill(); }
  void releaseFence(FenceId fence, const SharedPutValues& values) override {
    core_.releaseFence(fence, *values);
  }
  void announce(const SharedEndNotices& end_notices) override {
    for (const EndNotice& each : *end_notices) core_.announce(each);
  }

  std::string read_input;

 private:
  // Processes
  void spawn(const SpawnRequest& request) override;
  void signal(int instance, int signal) override;
  void abandon() override;
  void drain(int instance) override;
  // Rendezvous
  Result<RendezvousPlaces> open(const JobSlice& slice) override;
  void releaseFence(FenceId /*fence*/, const PutValues& values) override;
  void announce(const EndNotice& end_notice) override;
  std::vector<InstanceValue> takeReported() override { return {}; }
  int toldBy(int) const override { return -1; }
  // InputSink
  void write(std::string bytes) override;
  void end() override { read_input += '.'; }
  std::int64_t read() const override { return 0; }
  void setOnTaken(std::function<void(std::int64_t)> on_taken) override { on_taken_ = std::move(on_taken); }

  int upTo(int most) { return static_cast<int>(random_.below(static_cast<std::uint64_t>(most) + 1)); }
  void after(int most_ms, int instance, std::function<void(SimInstance&)> task);
  void inAgent(int instance, std::function<void(SimInstance&)> task);
  void spawned(int instance);
  void plan(int instance);
  void writePiece(int instance, SimInstance& self);
  void pump(int instance, SimInstance& self);
  void enterFence(int instance, SimInstance& self);
  void exit(int instance, SimInstance& self, const contract::ExitStatus& status);
  void killAll();

  SplitMix64& random_;
  const Manners& manners_;
  const int index_;
  const Events events_;
  SimProcess process_;
  SimProcess machine_;  ///< goes on when the agent's process does not: keeper and instances
  std::function<void(std::int64_t)> on_taken_;
  agent::AgentSession session_;
  agent::AgentCore core_;
  std::map<int, SimInstance> instances_;
  std::unique_ptr<agent::Fence> fence_;
  int run_ = 0;
  bool output_paused_ = false;
  bool keeper_gone_ = false;
  bool over_ = false;
  int tidied_away_ = 0;  ///< instances that were alive when the agent's process ended
};

}  // namespace pop::sim
