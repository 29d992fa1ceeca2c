// SPDX-License-Identifier: Apache-2.0
// What one job is, and everything that can be wrong with it. Values only.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace pop::model {

/// An IPU-Link domain has at most so many IPUs.
inline constexpr int kIpusPerIld = 64;

struct JobSpec {
  std::vector<std::string> hosts{"localhost"};
  int num_instances = 1;     ///< processes of the program, divided evenly over the hosts
  int num_replicas = 1;      ///< copies of the model, divided evenly over the instances
  int ipus_per_replica = 1;  ///< a power of two
  std::string system;        ///< preset of the Pod to emulate; empty: none is large enough
  bool offline_mode = false;
  std::vector<std::string> command;            ///< the program and its arguments
  std::string working_directory;               ///< of the instances; empty: the launcher's own
  std::string executable_cache_path;           ///< directory that all instances of a host share; empty: none
  std::chrono::milliseconds kill_grace{5000};  ///< between SIGTERM and SIGKILL
};

/// IPUs of the job's partition: all replicas', rounded up to a power of two.
int partitionIpus(const JobSpec& spec);

/// Every mistake in the numbers, each naming the option to change. Empty: the job can be placed.
std::vector<std::string> findMistakes(const JobSpec& spec);

}  // namespace pop::model
