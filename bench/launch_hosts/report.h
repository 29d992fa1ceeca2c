// SPDX-License-Identifier: Apache-2.0
// Figures of jobs over several hosts, and poprun's goals for them, as tables for people and as JSON lines.
#pragma once

#include <string>
#include <vector>

#include "bench/harness/json_line.h"
#include "bench/launch_hosts/figures.h"
#include "bench/launch_speed/goals.h"

namespace pop::bench {

/// The goals for which there are figures.
std::vector<Goal> judge(const HostFigures& figures);

std::vector<JsonLine> toJson(const HostFigures& figures, const std::vector<Goal>& goals);
std::string inWords(const HostFigures& figures, const std::vector<Goal>& goals);

}  // namespace pop::bench
