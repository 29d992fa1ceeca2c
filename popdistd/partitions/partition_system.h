// SPDX-License-Identifier: Apache-2.0
// The Pod that the programs of a partition see: the partition's IPUs, joined as its routing says, and nothing
// of the cluster around them.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/model/job_spec.h"
#include "popdistd/partitions/partition.h"

namespace pop::vipu {

/// Each IPU-Link segment is an ILD: of a RINGSWNC partition a torus, of a BTNC one a barley twist, else a
/// mesh, whose loop cables, if there are any, the routing does not use. Whole machines: a segment of fewer
/// IPUs counts as one. GW-Links of some ILDs of a ring count as a ring of these.
model::PodShape shapeOf(const PartitionSpec& spec);

/// JobSpec::system of a job in the partition `id`: its Pod, of Mk2 IPUs, or the system that the job names
/// (--system), which must have the partition's shape. kFailedPrecondition: it has another one;
/// kInvalidArgument: it is no system.
Result<std::string> systemFor(const model::JobSpec& job, std::string_view id, const PartitionSpec& spec);

}  // namespace pop::vipu
