// SPDX-License-Identifier: Apache-2.0
// Takes the figures of jobs over several hosts.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/launch_hosts/contestants.h"
#include "bench/launch_hosts/rig.h"
#include "bench/launch_speed/figures.h"
#include "bench/launch_speed/options.h"

namespace pop::bench {

/// Returns why the contestant cannot run a job on one host; empty if it can.
std::string whyUnusable(const HostContestant& contestant, const HostRig& rig, const LaunchOptions& options);

Figures measureHosts(HostRig& rig, const std::vector<HostContestant>& contestants,
                     const LaunchOptions& options);

/// CPU time of the controller for H hosts: fixed_ms + per_host_ms * H, by least squares.
struct ControllerCost {
  double fixed_ms = 0;
  double per_host_ms = 0;
};

/// The line through pairs of hosts and ms; nothing if there are fewer than two different numbers of hosts.
std::optional<ControllerCost> controllerCost(const std::vector<std::pair<int, double>>& measured);

}  // namespace pop::bench
