// SPDX-License-Identifier: Apache-2.0
// The variables for other frameworks, one row each, and the complete environment of an instance: PopDist's
// variables, then the frameworks', then the user's, later ones replacing earlier ones. Documented in
// docs/reference/environment.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/contract/env_contract.h"
#include "common/contract/env_family.h"

namespace pop::contract {

/// The position of an instance among the hosts of its job.
struct InstancePlace {
  std::string host_name = "localhost";
  int host_index = 0;
  int num_hosts = 1;
  int cross_rank = 0;  ///< among the instances with the same index on their hosts (Horovod)
  int cross_size = 1;

  friend bool operator==(const InstancePlace&, const InstancePlace&) = default;
};

/// Addresses by which instances find each other through other frameworks; the same for all instances. Ports
/// are texts, because a plan that is only shown has no numbers yet.
struct Rendezvous {
  std::string tf_cluster;  ///< of TF_CONFIG, as tfCluster() writes it: once, not for each instance
  bool tf_chief = false;
  bool tf_evaluator = false;
  std::string master_address;  ///< of instance 0
  std::string master_port;     ///< each port is empty if unused
  std::string jax_port;
  std::string horovod_port;

  // For MPI libraries; the agent of each host fills them in.
  std::string own_address;    ///< of this host
  std::string pmix_port;      ///< of the PMIx server on this host's loopback address
  std::string mpi_directory;  ///< for MPI's files: removed with the job

  friend bool operator==(const Rendezvous&, const Rendezvous&) = default;
};

/// The descriptor that a process gets besides its standard streams; an instance speaks PMI-1 with its agent
/// there. Scripts use those below 10.
inline constexpr int kPassedDescriptor = 20;

/// The namespace of a job's instances in PMIx, and that of its servers.
std::string pmixNamespace(const std::string& job_id);
std::string pmixServerNamespace(const std::string& job_id);

/// The IPU settings of Poplar programs; the same for all instances.
struct PoplarTarget {
  int ild_ipus = 1;       ///< IPUs of one IPU-Link domain of the job's partition
  std::string partition;  ///< at a V-IPU server; empty: none
  std::string server_host;
  int server_port = 0;
  int server_timeout_seconds = 0;

  friend bool operator==(const PoplarTarget&, const PoplarTarget&) = default;
};

/// "10.0.0.1:80", "[fe80::1]:80".
std::string endpoint(const std::string& address, const std::string& port);

/// TF_CONFIG's cluster: instance 0 is the chief if there is one; the last instance can be the evaluator,
/// which is not part of the cluster; all others are workers.
std::string tfCluster(std::span<const std::string> endpoints, bool chief, bool evaluator);

/// Everything that determines the environment of one instance.
struct EnvironmentParts {
  const InstanceEnv& env;
  const InstancePlace& place;
  const Rendezvous& rendezvous;
  const PoplarTarget& poplar;
  const EnvFamilies& families;
  std::span<const Variable> job;      ///< the user's, over the families'
  std::span<const Variable> program;  ///< the user's, over everything
};

/// Returns all variables, each once. kResourceExhausted: a variable exceeds the kernel's limit for exec.
Result<std::vector<Variable>> renderEnvironment(const EnvironmentParts& parts);

}  // namespace pop::contract
