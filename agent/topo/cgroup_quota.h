// SPDX-License-Identifier: Apache-2.0
// How much CPU time the cgroups of this process allow, in CPUs. Containers are limited this way.
#pragma once

#include <string>

namespace pop::agent {

/// The least quota of the cgroup and all above it (v2: cpu.max; v1: cpu.cfs_quota_us); 0: no limit.
/// `root` stands for "/", so that tests can bring their own files.
double cgroupCpuQuota(const std::string& root = {});

}  // namespace pop::agent
