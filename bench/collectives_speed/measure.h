// SPDX-License-Identifier: Apache-2.0
// Takes the figures: cell by cell, all contestants in turn and the machine's limits among them, so that what
// disturbs the machine for a while disturbs all alike.
#pragma once

#include <string>
#include <vector>

#include "bench/collectives_speed/contestants.h"
#include "bench/collectives_speed/figures.h"
#include "bench/collectives_speed/options.h"

namespace pop::bench::collectives {

/// Why the contestant cannot run; empty if it can.
std::string whyUnusable(const Contestant& contestant);

/// What measures the machine's limits.
struct LimitsProgram {
  std::string path;
  std::vector<std::string>
      tcp_path;  ///< of its `tcp`: where the connection goes; none: the loopback interface
};

Figures measureAll(const std::vector<Contestant>& contestants, const LimitsProgram& limits_program,
                   const Options& options);

}  // namespace pop::bench::collectives
