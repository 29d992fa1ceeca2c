// SPDX-License-Identifier: Apache-2.0
// Takes the figures of jobs over several hosts.
#pragma once

#include <string>
#include <vector>

#include "bench/launch_hosts/contestants.h"
#include "bench/launch_hosts/figures.h"
#include "bench/launch_hosts/rig.h"
#include "bench/launch_speed/options.h"
#include "bench/launch_speed/turns.h"

namespace pop::bench {

/// Returns why the contestant cannot run a job on one host; empty if it can.
std::string whyUnusable(const HostContestant& contestant, const HostRig& rig, const LaunchOptions& options);

HostFigures measureHosts(HostRig& rig, const std::vector<HostContestant>& contestants,
                         const LaunchOptions& options, const Hooks& hooks);

}  // namespace pop::bench
