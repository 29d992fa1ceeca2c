// SPDX-License-Identifier: Apache-2.0
// The agent of this host, in this process: composes core, keeper, pump and rendezvous.
#pragma once

#include <unistd.h>

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "agent/core/agent_core.h"
#include "agent/io/output_pump.h"
#include "agent/io/stdin_feed.h"
#include "agent/job/host_rendezvous.h"
#include "agent/job/memory_kills.h"
#include "agent/job/stack_tracer.h"
#include "agent/keeper/keeper.h"
#include "agent/keeper/keeper_link.h"
#include "agent/rendezvous/port_reservation.h"
#include "common/os/epoll_loop.h"
#include "common/ports/agent_port.h"

namespace pop::agent {

/// Settings that depend on which program started this process, and from where.
struct AgentSurroundings {
  int stdin_source = STDIN_FILENO;
  std::function<void()> stdin_unread = nullptr;            ///< as the stdin feed's
  std::function<Result<std::string>()> address = nullptr;  ///< of this host; null: the job has no other one
};

class LocalAgent final : public Agent, private Processes {
 public:
  /// `loop` and `sink` outlive the agent. `modes`: for each stream, whether instances share it line by line.
  LocalAgent(os::EpollLoop& loop, keeper::Keeper keeper, OutputSink& sink, OutputPump::Modes modes,
             AgentSurroundings surroundings = {});
  ~LocalAgent() override;

  /// The path of a directory shared by all instances of this host. It does not exist yet: the program that
  /// needs it creates it. The keeper removes it last.
  void removeAtEnd(const std::string& path) { keeper_link_.removeAtEnd(path); }

  /// Creates the directory of --executable-cache-path if it does not exist.
  static Status makeExecutableCache(const std::string& path);

  /// Ends what is left of the job, the keeper last. Call it once, before the agent is destroyed.
  Status shutDown();

  void describe(int port_count, model::TopologyDetail detail,
                std::function<void(Result<HostFacts>)> reply) override;
  void run(JobSlice slice, AgentEvents& events) override;
  void stop() override;
  void kill() override;
  void signal(int signal) override { core_.signal(signal); }
  void traceStacks(std::function<void(std::vector<StackTrace>)> reply) override;
  void releaseFence(FenceId fence, const SharedPutValues& values) override {
    core_.releaseFence(fence, *values);
  }
  void announce(const SharedEndNotices& end_notices) override {
    for (const EndNotice& each : *end_notices) core_.announce(each);
  }

 private:
  KeeperLink::Events keeperEvents();
  void onSpawned(int instance, pid_t pid);
  void onReaped(int instance, const contract::ExitStatus& status);
  void onClean(const Status& clean);
  void spawn(const SpawnRequest& request) override;
  void signal(int instance, int signal) override { keeper_link_.signal(instance, signal); }
  void abandon() override;
  void drain(int instance) override { pump_.drain(instance); }

  os::EpollLoop& loop_;
  const AgentSurroundings surroundings_;
  keeper::Keeper keeper_;
  AgentCore core_;
  KeeperLink keeper_link_;
  HostRendezvous rendezvous_;
  OutputPump pump_;
  StdinFeed stdin_feed_;
  StackTracer tracer_;
  std::map<int, pid_t> running_;
  std::optional<MemoryKills> memory_kills_;  ///< of this run
  bool has_run_ = false;
  bool abandoned_ = false;  ///< this process killed the keeper
  /// Runs when the leftovers of the previous run have ended, or with the reason why they have not.
  std::function<void(const Status& clean)> when_clean_;
  std::optional<TimerId> clean_limit_;
  PortReservation ports_;
};

}  // namespace pop::agent
