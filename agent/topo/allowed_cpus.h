// SPDX-License-Identifier: Apache-2.0
// The CPUs that the kernel lets this process run on: taskset's and the cpuset cgroup's.
#pragma once

#include "common/base/status.h"
#include "common/model/cpu_set.h"

namespace pop::agent {

Result<model::CpuSet> allowedCpus();

}  // namespace pop::agent
