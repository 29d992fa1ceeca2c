// SPDX-License-Identifier: Apache-2.0
// Figures and goals as tables for people and as JSON lines for programs.
#pragma once

#include <string>
#include <vector>

#include "bench/collectives_speed/figures.h"
#include "bench/harness/goal.h"
#include "bench/harness/json_line.h"

namespace pop::bench::collectives {

std::vector<JsonLine> toJson(const Figures& figures, const std::vector<Goal>& goals);
std::string inWords(const Figures& figures, const std::vector<Goal>& goals);

}  // namespace pop::bench::collectives
