// SPDX-License-Identifier: Apache-2.0
// The agent of this host, in this process: the composition of core, keeper, pump and rendezvous.
#pragma once

#include <memory>
#include <string>

#include "agent/core/agent_core.h"
#include "agent/io/output_pump.h"
#include "agent/keeper/keeper.h"
#include "agent/keeper/keeper_link.h"
#include "agent/rendezvous/instance_server.h"
#include "agent/rendezvous/port_reservation.h"
#include "common/os/asio_loop.h"
#include "popdistd/controller/ports.h"

namespace pop::agent {

class LocalAgent final : public Agent, private Processes {
 public:
  /// `loop` and `sink` outlive the agent. `mode`: whether instances share the sink's streams line by line.
  LocalAgent(os::AsioLoop& loop, keeper::Keeper keeper, OutputSink& sink, OutputPump::Mode mode);
  ~LocalAgent() override;

  /// A fresh directory for all instances of this host; the keeper removes it after everything else.
  Result<std::string> makeJobDirectory(const std::string& name);

  /// Ends whatever is left of the job, the keeper last. Call it once, before the agent is destroyed.
  Status shutDown();

  void describe(int port_count, model::TopologyDetail detail,
                std::function<void(Result<HostFacts>)> reply) override;
  void run(JobSlice slice, AgentEvents& events) override;
  void stop() override { core_.stop(); }
  void kill() override { core_.kill(); }
  void signal(int signal) override { core_.signal(signal); }
  void releaseFence(const PutValues& values) override { core_.releaseFence(values); }
  void announce(const Obituary& obituary) override { core_.announce(obituary); }

 private:
  void spawn(const SpawnRequest& request) override;
  void signal(int instance, int signal) override { keeper_link_.signal(instance, signal); }
  void drain(int instance) override { pump_.drain(instance); }

  os::AsioLoop& loop_;
  keeper::Keeper keeper_;
  AgentCore core_;
  InstanceServer server_;
  OutputPump pump_;
  KeeperLink keeper_link_;
  PortReservation ports_;
  std::string job_directory_;
};

}  // namespace pop::agent
