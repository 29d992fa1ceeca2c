// SPDX-License-Identifier: Apache-2.0
// The partition that a job needs: all IPUs of its replicas, and a GCD for each instance. Pure.
#pragma once

#include <string>

#include "common/base/status.h"
#include "popdistd/common/pod_leases.h"
#include "popdistd/partitions/partition_table.h"

namespace pop::popdistd {

/// As it is made if it is not there; with `remove` it goes with the job. kInvalidArgument: there is no such
/// sync type.
Result<vipu::CreateRequest> requestOf(const LeaseRequest& request, bool any_allocation);

/// The mismatch between the partition and the job's needs; empty: none. A reconfigurable one may have more
/// IPUs.
std::string misfit(const LeaseRequest& request, const vipu::Partition& partition);

}  // namespace pop::popdistd
