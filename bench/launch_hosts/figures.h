// SPDX-License-Identifier: Apache-2.0
// Measured figures of jobs over several hosts, as values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/harness/statistics.h"
#include "bench/launch_speed/figures.h"

namespace pop::bench {

/// The fences of one job: for each, the time of the slowest instance.
struct FenceFigure {
  std::string contestant;
  int hosts = 0;
  int instances = 0;
  Summary slowest_ms;
  bool not_quiet = false;
};

/// VmHWM at the end of a job, while all its processes still exist.
struct HostMemoryFigure {
  std::string contestant;
  int hosts = 0;
  int instances = 0;
  std::int64_t agent_kib = 0;  ///< the largest one of a job, or that waits for one
  std::int64_t keeper_kib = 0;
  std::int64_t controller_kib = 0;
  std::int64_t service_kib = 0;  ///< the largest one since its start; 0: jobs over SSH use none
};

/// A host whose cable is pulled in mid-job.
struct SilenceFigure {
  int hosts = 0;
  Summary noticed_s;  ///< from the cut until poprun has named the host
  Summary ended_s;    ///< from the cut until poprun has ended
};

struct HostFigures {
  std::vector<TimeFigure> times;  ///< job_program is "P per host", processes the number of hosts
  std::vector<TimeFigure> costs;  ///< of poprun alone, one process on each host
  std::vector<FenceFigure> fences;
  std::vector<HostMemoryFigure> memory;
  std::optional<SilenceFigure> silence;
  std::vector<std::string> failures;  ///< of the figures that are missing, in words
};

/// CPU time of the controller for H hosts: fixed_ms + per_host_ms * H, by least squares.
struct ControllerCost {
  double fixed_ms = 0;
  double per_host_ms = 0;

  double of(int hosts) const { return fixed_ms + per_host_ms * hosts; }
};

/// Nothing if there are fewer than two different numbers of hosts.
std::optional<ControllerCost> controllerCost(const std::vector<TimeFigure>& costs);

}  // namespace pop::bench
