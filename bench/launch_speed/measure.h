// SPDX-License-Identifier: Apache-2.0
// Takes the figures: jobs of all contestants in turn (A B C A B C …), so that what disturbs the machine for a
// while disturbs all alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/harness/json_line.h"
#include "bench/launch_speed/contestants.h"
#include "bench/launch_speed/figures.h"
#include "bench/launch_speed/options.h"

namespace pop::bench {

struct JobPrograms {
  std::string true_path;
  std::string rank_path;
};

struct Hooks {
  std::function<void(const JsonLine&)> record;       // each run
  std::function<void(const std::string&)> progress;  // what is being measured now, for people
};

/// Why the contestant cannot run a job of one process; empty if it can.
std::string whyUnusable(const Contestant& contestant, const JobPrograms& programs);

Figures measureAll(const std::vector<Contestant>& contestants, const JobPrograms& programs,
                   const LaunchOptions& options, const Hooks& hooks);

}  // namespace pop::bench
