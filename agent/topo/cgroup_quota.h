// SPDX-License-Identifier: Apache-2.0
// The CPU time that this process's cgroups allow, in CPUs. Containers are limited this way.
#pragma once

#include <string>

namespace pop::agent {

/// Returns the smallest quota of the cgroup and its ancestors (v2: cpu.max; v1: cpu.cfs_quota_us); 0: no
/// limit. `root` stands for "/", so that tests can provide their own files.
double cgroupCpuQuota(const std::string& root = {});

}  // namespace pop::agent
