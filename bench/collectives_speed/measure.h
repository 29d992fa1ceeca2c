// SPDX-License-Identifier: Apache-2.0
// Takes the figures cell by cell, with all contestants and the machine's limits in turn, so that a temporary
// disturbance affects all alike.
#pragma once

#include <string>
#include <vector>

#include "bench/collectives_speed/contestants.h"
#include "bench/collectives_speed/figures.h"
#include "bench/collectives_speed/options.h"

namespace pop::bench::collectives {

/// Returns why the contestant cannot run; empty if it can.
std::string whyUnusable(const Contestant& contestant);

/// The program that measures the machine's limits.
struct LimitsProgram {
  std::string path;
  std::vector<std::string> tcp_path;  ///< path of the `tcp` measurement; none: the loopback interface
};

Figures measureAll(const std::vector<Contestant>& contestants, const LimitsProgram& limits_program,
                   const Options& options);

}  // namespace pop::bench::collectives
