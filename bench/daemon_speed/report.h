// SPDX-License-Identifier: Apache-2.0
// The figures as JSON lines and as tables.
#pragma once

#include <string>
#include <vector>

#include "bench/daemon_speed/figures.h"
#include "bench/harness/json_line.h"

namespace pop::bench {

std::vector<JsonLine> toJson(const DaemonFigures& all);
std::string inWords(const DaemonFigures& all);

}  // namespace pop::bench
