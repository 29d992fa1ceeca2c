// SPDX-License-Identifier: Apache-2.0
// Which waiting jobs start now, and where. A pure function of the tables.
//
// A host takes a job if its instances fit into the free slots, or if nothing else runs there. Jobs are looked
// at by priority, then by age; a job that waits keeps the hosts that it could use from all that come after
// it, so none waits for ever. One that waits for IPUs keeps those of its allocation in the same way; one that
// waits for a partition keeps hosts only while that is being configured for it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "popdistd/jobs/host_table.h"
#include "popdistd/jobs/job_table.h"
#include "popdistd/jobs/pod_leases.h"

namespace pop::popdistd {

struct Decision {
  std::int64_t job = 0;
  std::vector<std::string> hosts;  ///< where it starts, once its partition is ready; none: it waits
  std::string reason;              ///< why it waits
  WaitsFor waits_for = WaitsFor::kHosts;
  bool never = false;  ///< it would wait for ever
};

/// Instances of jobs that have a runner, by host.
struct HostLoad {
  int jobs = 0;
  int instances = 0;
};
std::map<std::string, HostLoad> loadOf(JobTable& jobs);

/// A decision for each waiting job until none after it could start; those have no decision.
std::vector<Decision> decide(JobTable& jobs, const HostTable& hosts, PodLeases& pods);

}  // namespace pop::popdistd
