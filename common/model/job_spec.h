// SPDX-License-Identifier: Apache-2.0
// The specification of one job, and every mistake that it can contain. Values only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/contract/env_family.h"
#include "common/model/binding.h"
#include "common/model/pod_shape.h"

namespace pop::model {

struct Host {
  std::string name;
  int slots = 0;  ///< instances that fit ("node1:4"); 0: not said, instances are divided evenly

  friend bool operator==(const Host&, const Host&) = default;
};

using Variable = std::pair<std::string, std::string>;

/// One of the programs of a job, and the instances that run it.
struct Program {
  std::vector<std::string> command;  ///< the program and its arguments
  int num_instances = 1;
  std::string working_directory;      ///< of the instances; empty: the launcher's own
  std::vector<Variable> environment;  ///< overrides everything else

  friend bool operator==(const Program&, const Program&) = default;
};

/// Which instances get the launcher's stdin.
struct StdinPolicy {
  enum class Who : std::uint8_t { kNone, kAll, kOne } who = Who::kOne;
  int instance = 0;  ///< kOne

  friend bool operator==(const StdinPolicy&, const StdinPolicy&) = default;
};

/// The tasks that TF_CONFIG names: workers, or a chief (instance 0) and workers, and perhaps an evaluator
/// (the last instance).
struct TfTasks {
  bool chief = false;
  bool evaluator = false;

  friend bool operator==(const TfTasks&, const TfTasks&) = default;
};

/// The partition of a real or emulated Pod to request from a V-IPU server.
struct PartitionRequest {
  std::string name;  ///< empty: none is asked for
  std::string server_host = "localhost";
  int server_port = 8090;
  int server_timeout_seconds = 120;
  int attempts = 1;
  std::string allocation;
  bool update = false;
  std::optional<bool> reset;  ///< not said: as the partition is reconfigurable or not
  bool remove = true;
  std::string sync_type;

  friend bool operator==(const PartitionRequest&, const PartitionRequest&) = default;
};

/// The files that are copied from this host to every other host before the job starts.
struct CopyRequest {
  std::vector<std::string> paths;  ///< absolute, the same on the far side
  bool ssh_key = false;            ///< the user's public key, so that logins need no password

  friend bool operator==(const CopyRequest&, const CopyRequest&) = default;
};

struct JobSpec {
  std::vector<Host> hosts{{"localhost"}};
  std::string host_subnet;  ///< CIDR of the network between hosts; empty: deduced
  CopyRequest copies;
  std::vector<Program> programs;  ///< at least one; their instances follow each other in order
  int num_instances = 1;          ///< of all programs
  int num_replicas = 1;           ///< copies of the model, divided evenly over the instances
  bool uneven_replicas = false;   ///< the first instances may have one more than the others
  int ipus_per_replica = 1;       ///< a power of two
  std::optional<int> num_ilds;    ///< IPU-Link domains; not set: as many as the IPUs need
  std::string system;             ///< the Pod to emulate: InstanceEnv::system
  bool needs_pods = true;         ///< false: the job was started without a word about IPUs or Pods
  bool offline_mode = false;
  PartitionRequest partition;
  BindPolicy binding;
  contract::EnvFamilies env_families = contract::allEnvFamilies();
  TfTasks tf_tasks;
  std::vector<Variable> environment;   ///< set or forwarded by the user for all instances
  std::string executable_cache_path;   ///< directory that all instances of a host share; empty: a fresh one
  bool make_executable_cache = false;  ///< make it if it is missing; it stays when the job is over
  StdinPolicy stdin_policy;
  std::chrono::milliseconds kill_grace{5000};  ///< between SIGTERM and SIGKILL
  std::chrono::milliseconds timeout{0};        ///< limit of the whole job; 0: none
  bool stack_traces = false;                   ///< show each instance's stack when the timeout is over
  int max_restarts = 0;                        ///< of the whole job, after a failure
  std::chrono::milliseconds restart_delay{0};
  std::optional<int> min_hosts;  ///< hosts needed for a restart; not set: all

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

/// IPUs of the job's partition: those of all replicas, rounded up to a power of two.
int partitionIpus(const JobSpec& spec);

/// True if instances fill the hosts in order, each up to its slots; otherwise they are divided evenly.
bool hasSlots(const JobSpec& spec);

/// The slots of a host when some hosts specify slots: one, unless it specifies more.
int slotsOf(const Host& host);

/// First replica of `instance`. `instance` may be one past the last, so that its replicas end where the next
/// one's begin.
int firstReplicaOf(const JobSpec& spec, int instance);

/// True when every instance has the same number of replicas.
bool uniformReplicas(const JobSpec& spec);

/// The minimum number of hosts for a restart of the job.
int minHosts(const JobSpec& spec);

/// IPU-Link domains of the job; on hardware each is in a Pod of its own.
int countIlds(const JobSpec& spec);

/// Index into `spec.programs` of what `instance` runs.
int programOf(const JobSpec& spec, int instance);

/// Returns every mistake in the numbers, each naming the option to change. Empty: the job can be placed.
std::vector<std::string> findMistakes(const JobSpec& spec);

}  // namespace pop::model
