// SPDX-License-Identifier: Apache-2.0
// Returns the CPUs that this process may use, limited by taskset and the cpuset cgroup.
#pragma once

#include "common/base/status.h"
#include "common/model/cpu_set.h"

namespace pop::agent {

Result<model::CpuSet> allowedCpus();

}  // namespace pop::agent
