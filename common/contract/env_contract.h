// SPDX-License-Identifier: Apache-2.0
// PopDist's part of every instance's environment: the instance's identity and how to reach its agent.
// Rendered for the instance, parsed by libpopdist, documented in docs/reference/environment.md. Other
// frameworks' variables are in env_frameworks.h.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"

namespace pop::contract {

/// An instance's view of itself and of the job. The defaults describe a program started without poprun: one
/// instance with one replica on one IPU.
struct InstanceEnv {
  int num_total_replicas = 1;
  int num_ipus_per_replica = 1;
  int num_local_replicas = 1;         ///< replicas of this instance
  bool uniform_replicas = true;       ///< every instance has num_local_replicas of them
  int replica_index_offset = 0;       ///< global index of this instance's first replica
  int num_instances = 1;              ///< in the job
  int instance_index = 0;             ///< in [0, num_instances)
  int num_local_instances = 1;        ///< on this host
  int local_instance_index = 0;       ///< in [0, num_local_instances)
  std::string job_id;                 ///< the same for all instances; empty without poprun
  std::string agent_socket;           ///< abstract Unix socket of this host's agent; empty without poprun
  std::string executable_cache_path;  ///< a directory that all instances of a host share; may be empty
  std::string system;    ///< Pod to emulate: preset ("pod16") or system's text; empty: the smallest that fits
  bool offline = false;  ///< run without attaching to any (emulated) IPU
  int restart_count = 0;  ///< number of restarts after a failure

  friend bool operator==(const InstanceEnv&, const InstanceEnv&) = default;
};

using Variable = std::pair<std::string, std::string>;

/// The POPDIST_* variables of one instance, all of them.
std::vector<Variable> render(const InstanceEnv& env);

/// Like getenv: the value, or nullptr.
using Lookup = std::function<const char*(const char* name)>;

/// True if poprun started the program (PopDist's variables are set).
bool isSet(const Lookup& lookup);

/// Reads the variables that render wrote. Missing variables keep their defaults, so that a program also
/// starts under PopRun, which sets fewer. kInvalidArgument: a value is not a number, or values contradict
/// each other.
Result<InstanceEnv> parse(const Lookup& lookup);

}  // namespace pop::contract
