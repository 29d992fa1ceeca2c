// SPDX-License-Identifier: Apache-2.0
// Figures and goals as tables for people and as JSON lines for programs.
#pragma once

#include <string>
#include <vector>

#include "bench/harness/json_line.h"
#include "bench/launch_speed/figures.h"
#include "bench/launch_speed/goals.h"

namespace pop::bench {

std::vector<JsonLine> toJson(const Figures& figures, const std::vector<Goal>& goals);
std::string inWords(const Figures& figures, const std::vector<Goal>& goals);

}  // namespace pop::bench
