// SPDX-License-Identifier: Apache-2.0
// What the agent core needs from the host it runs on. Events come back through AgentCore's methods.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/contract/env_contract.h"
#include "common/ports/agent_port.h"

namespace pop {

/// One process to start, as data. Each hook (agent/core/hooks.h) adds its part.
struct SpawnRequest {
  int instance = 0;
  std::vector<std::string> argv;
  std::vector<contract::Variable> environment;  ///< over the launcher's own
  std::string working_directory;                ///< empty: the launcher's own
  model::Binding binding;
};

/// Starts, signals and reaps processes, and carries their output.
class Processes {
 public:
  virtual ~Processes() = default;

  /// Answered by AgentCore::onSpawned or onSpawnFailed; later by onReaped.
  virtual void spawn(const SpawnRequest& request) = 0;

  /// To the instance's whole process group; nothing when it has been reaped.
  virtual void signal(int instance, int signal) = 0;

  /// SIGKILL has not helped: gives up all processes that run; answered by AgentCore::onKeeperLost.
  virtual void abandon() = 0;

  /// Delivers what the ended instance has written so far; answered by AgentCore::onDrained.
  virtual void drain(int instance) = 0;
};

/// Serves the instances that use libpopdist.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;

  /// Name of the socket at which `slice`'s instances find this host's agent. Again for each run: whoever is
  /// connected from the run before is cut off.
  virtual Result<std::string> open(const JobSlice& slice) = 0;
  virtual void releaseFence(const PutValues& values) = 0;
  virtual void announce(const EndNotice& end_notice) = 0;
};

}  // namespace pop
