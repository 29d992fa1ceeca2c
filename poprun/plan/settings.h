// SPDX-License-Identifier: Apache-2.0
// poprun's settings, as values. poprun/cli/parse.h reads them from the command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "poprun/plan/detached_options.h"

namespace pop {

enum class TagOutput : std::uint8_t { kAuto, kNo, kInstance, kHost, kMpi };
enum class DryRun : std::uint8_t { kNo, kText, kJson };
/// Format of the report on a log of trainings.
enum class ScalingFormat : std::uint8_t { kMarkdown, kJson, kSvg };
enum class VersionFormat : std::uint8_t { kText, kFullText, kFullJson };

/// One of several programs separated by ":", with the options that each can have.
struct ProgramOptions {
  std::optional<int> num_instances;      ///< not set: 1, or for a single program the sum of the hosts' slots
  std::string working_directory;         ///< --wdir
  std::vector<std::string> environment;  ///< -x: "NAME=value", or "NAME" to forward poprun's own
  std::vector<std::string> command;      ///< the program and its arguments

  friend bool operator==(const ProgramOptions&, const ProgramOptions&) = default;
};

/// Access to other hosts, and the times after which they count as lost.
struct HostsOptions {
  std::string ssh_config;  ///< as `ssh -F`; empty: ~/.ssh/config and the system's
  std::string rsh;         ///< "ssh -J gate": a program instead of the built-in SSH
  std::string agent_path;  ///< popdist-agent on every host; empty: PATH, then a copy
  int agent_port = 0;      ///< of the agent service on every host; 0: SSH
  std::string agent_tls;   ///< directory with ca.pem and the user's pair; empty: without TLS
  /// Set: hosts that cannot be reached yet are tried again until it is over.
  std::optional<std::chrono::milliseconds> connect_timeout;
  std::chrono::milliseconds silence{5000};

  std::chrono::milliseconds connectTimeout() const {
    return connect_timeout.value_or(std::chrono::seconds(10));
  }

  friend bool operator==(const HostsOptions&, const HostsOptions&) = default;
};

/// Number of instances that a host gets, apart from its slots.
struct InstancesPerHost {
  int most = 0;       ///< on each host, whatever its slots; 0: not said
  bool even = false;  ///< divided evenly, each host up to its slots; the first ones may have one more

  friend bool operator==(const InstancesPerHost&, const InstancesPerHost&) = default;
};

/// A job that popdistd runs.
struct ControllerOptions {
  std::string server;            ///< HOST:PORT; empty: poprun runs the job
  std::string tls;               ///< directory with ca.pem and the user's pair; empty: without TLS
  std::optional<int> num_hosts;  ///< that popdistd chooses; not set: one, or those of --host
  int priority = 0;              ///< higher first
  bool held = false;             ///< it waits until it is released
  bool no_wait = false;          ///< refused where it would wait for hosts

  friend bool operator==(const ControllerOptions&, const ControllerOptions&) = default;
};

struct Options {
  // Hosts and numbers.
  std::string host;              ///< --host; empty: localhost, or the hostfile's
  std::string hostfile;          ///< path
  bool hosts_are_slots = false;  ///< as for mpirun and horovodrun: see poprun/plan/instance_counts.h
  bool fills_cores = false;      ///< as Open MPI: without hosts and -np, an instance for each core
  InstancesPerHost per_host;
  bool oversubscribe = false;  ///< slots are no limit
  std::string host_subnet;
  HostsOptions hosts;
  std::vector<std::string> synchronise;  ///< paths to copy to all hosts
  bool synchronise_python_venv = false;
  bool synchronise_poplar_sdk = false;
  bool distribute_ssh_key = false;
  std::optional<int> num_replicas;  ///< default: as many as instances
  bool uneven_replicas = false;
  int ipus_per_replica = 1;
  std::optional<int> num_ilds;
  std::string system;  ///< Pod to emulate, a preset or a system file; empty: the smallest that fits
  bool offline_mode = false;
  std::vector<ProgramOptions> programs{{}};  ///< at least one
  model::BindPolicy binding;
  bool report_bindings = false;

  // The partition.
  model::PartitionRequest partition;

  // The program's environment.
  contract::EnvFamilies env_families = contract::allEnvFamilies();
  model::TfTasks tf_tasks;
  bool genvall = false;  ///< forward poprun's whole environment to other hosts
  std::string executable_cache_path;
  std::vector<std::string> collectives;  ///< names of algorithms: see parseCollectiveWays
  model::StdinPolicy stdin_policy;

  // Output.
  TagOutput tag_output = TagOutput::kAuto;
  bool timestamp_output = false;
  bool fold_output = false;
  std::string output_filename;  ///< directory; empty: no files
  std::optional<int> only_output_from_instance;
  std::optional<int> only_stdout_from_instance;

  // Limits and restarts.
  std::chrono::milliseconds timeout{0};  ///< 0: none
  bool stack_traces = false;
  std::chrono::milliseconds kill_grace{5000};
  int max_restarts = 0;
  std::optional<int> min_hosts;  ///< default: all
  std::chrono::milliseconds restart_delay{0};
  bool allow_run_as_root = true;

  DetachedOptions detached;
  ControllerOptions controller;

  // poprun itself.
  bool print_topology = false;
  DryRun dry_run = DryRun::kNo;
  std::string import_config;
  std::string export_config;
  bool overwrite_config = false;
  bool debug = false;
  int verbosity = 0;  ///< 0 warnings, 1 -v, 2 -vv
  bool help = false;
  bool version = false;
  VersionFormat version_format = VersionFormat::kText;
  std::string scaling_report;  ///< a log of trainings to report on; empty: start a job
  ScalingFormat scaling_format = ScalingFormat::kMarkdown;

  friend bool operator==(const Options&, const Options&) = default;
};

/// --debug implies -vv.
int effectiveVerbosity(const Options& options);

/// The number of instances of all programs, as far as the options alone determine it.
int numInstances(const Options& options);

}  // namespace pop
