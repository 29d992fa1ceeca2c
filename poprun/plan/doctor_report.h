// SPDX-License-Identifier: Apache-2.0
// What poprun doctor says of the hosts that it has examined: a line for each that is fine, a paragraph for
// each problem. A pure function of what was found.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop {

/// How many run, or how many may at once (0: no limit).
struct JobCount {
  int jobs = 0;
  int instances = 0;
};

/// What the agent service of a host says of itself.
struct ServiceFindings {
  std::string version;
  std::string user;  ///< as whom this user's jobs run
  JobCount own_running;
  JobCount own_limits;
  JobCount running;  ///< of all users
  JobCount limits;
};

struct HostFindings {
  std::string name;
  Status reached;  ///< else why no agent answers there, and nothing below is known

  bool is_this_host = false;               ///< the user names it as such
  std::string peer_address;                ///< at which it was reached; empty: not known
  std::string own_name;                    ///< what it calls itself
  std::optional<ServiceFindings> service;  ///< where it was reached by that
  std::string agent_version;
  std::string agent_path;
  bool agent_copied = false;  ///< just now
  std::chrono::milliseconds clock_ahead{0};
  std::chrono::microseconds round_trip{0};
  std::string address;  ///< at which the others would reach it
  int num_cpus = 0;
  int num_memory_nodes = 0;
  std::uint64_t free_shared_memory_bytes = 0;
  std::uint64_t open_files = 0;

  // Why not; empty: no problem.
  std::string address_problem;
  std::string topology_problem;
  std::string ports_problem;
  std::string directory_problem;
  std::string shared_memory_problem;
  std::string end_problem;
};

/// More than this, and a clock is a problem.
inline constexpr std::chrono::seconds kClockTolerance{5};
/// Fewer than this, and programs run out of descriptors.
inline constexpr std::uint64_t kLeastOpenFiles = 1024;
/// What containers give unless told otherwise; with less, data loaders and the like fail.
inline constexpr std::uint64_t kLeastSharedMemoryBytes = 64 << 20;

struct DoctorReport {
  std::string text;  ///< lines
  bool all_fine = true;
};

/// `own_name`: what the launcher's host calls itself. `version`: the launcher's.
DoctorReport doctorReport(const std::vector<HostFindings>& hosts, const std::string& own_name,
                          const std::string& version);

}  // namespace pop
