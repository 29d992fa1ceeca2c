// SPDX-License-Identifier: Apache-2.0
// The agent core's ports to the host that it runs on. Events come back through AgentCore's methods.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/contract/env_contract.h"
#include "common/ports/agent_port.h"

namespace pop {

/// The number of a process beside the instances, which the keeper starts for the agent.
inline constexpr int kPmixProgram = INT32_MIN;

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

  /// Answered by AgentCore::onSpawned or onSpawnFailed, and later by onReaped.
  virtual void spawn(const SpawnRequest& request) = 0;

  /// Signals the instance's whole process group; does nothing after it has been reaped.
  virtual void signal(int instance, int signal) = 0;

  /// SIGKILL has not helped: abandons all running processes. Answered by AgentCore::onKeeperLost.
  virtual void abandon() = 0;

  /// Delivers the remaining output of an ended instance; answered by AgentCore::onDrained.
  virtual void drain(int instance) = 0;
};

/// Addresses by which the instances of this host reach its agent.
struct RendezvousPlaces {
  std::string socket;         ///< abstract: libpopdist's
  std::string pmix_port;      ///< empty: not served
  std::string mpi_directory;  ///< it need not exist yet
};

/// Serves the instances that use libpopdist or MPI.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;

  /// Opens the places at which `slice`'s instances find this host's agent. Called again for each run;
  /// connections from the previous run are closed.
  virtual Result<RendezvousPlaces> open(const JobSlice& slice) = 0;
  virtual void releaseFence(FenceId fence, const PutValues& values) = 0;
  virtual void announce(const EndNotice& end_notice) = 0;
  /// The instances' reports on themselves that have changed since the last call.
  virtual std::vector<InstanceValue> takeReported() = 0;
  /// The instance of whose failure `instance` was told last; -1: none. It may be any number.
  virtual int toldBy(int instance) const = 0;
};

}  // namespace pop
