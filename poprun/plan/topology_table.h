// SPDX-License-Identifier: Apache-2.0
// PopRun's table of hosts, IPU-Link domains, instances and replicas, identical to the character.
#pragma once

#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "common/model/placement.h"

namespace pop {

/// The lines of the table, each ending with a newline. A pure function of the job.
std::string topologyTable(const model::JobSpec& spec, const std::vector<model::InstancePlacement>& placement);

}  // namespace pop
