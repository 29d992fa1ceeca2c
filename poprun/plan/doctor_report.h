// SPDX-License-Identifier: Apache-2.0
// The report of poprun doctor on the hosts that it has examined: a line for each host that is fine, a
// paragraph for each problem. A pure function of the findings.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop {

/// Number of jobs and instances that run, or may run at once (0: no limit).
struct JobCount {
  int jobs = 0;
  int instances = 0;
};

/// Report of a host's agent service about itself.
struct ServiceFindings {
  std::string version;
  std::string user;  ///< the account that runs this user's jobs
  JobCount own_running;
  JobCount own_limits;
  JobCount running;  ///< of all users
  JobCount limits;
};

struct HostFindings {
  std::string name;
  Status reached;  ///< an error: why no agent answers there; the fields below are then unknown

  bool is_this_host = false;               ///< named as the host that runs poprun
  std::string peer_address;                ///< at which it was reached; empty: not known
  std::string own_name;                    ///< its own host name
  std::optional<ServiceFindings> service;  ///< if it was reached through the agent service
  std::string agent_version;
  std::string agent_path;
  bool agent_copied = false;  ///< just now
  std::chrono::milliseconds clock_ahead{0};
  std::chrono::microseconds round_trip{0};
  std::string address;  ///< at which the other hosts would reach it
  int num_cpus = 0;
  int num_memory_nodes = 0;
  std::uint64_t free_shared_memory_bytes = 0;
  std::uint64_t open_files = 0;

  // Problems; empty: none.
  std::string address_problem;
  std::string topology_problem;
  std::string ports_problem;
  std::string directory_problem;
  std::string shared_memory_problem;
  std::string end_problem;
};

/// A larger clock difference is a problem.
inline constexpr std::chrono::seconds kClockTolerance{5};
/// With fewer, programs run out of descriptors.
inline constexpr std::uint64_t kLeastOpenFiles = 1024;
/// The default in containers; with less, data loaders and similar programs fail.
inline constexpr std::uint64_t kLeastSharedMemoryBytes = 64 << 20;

struct DoctorReport {
  std::string text;  ///< lines
  bool all_fine = true;
};

/// `own_name`: the host name of the launcher's host. `version`: the launcher's version.
DoctorReport doctorReport(const std::vector<HostFindings>& hosts, const std::string& own_name,
                          const std::string& version);

}  // namespace pop
