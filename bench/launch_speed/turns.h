// SPDX-License-Identifier: Apache-2.0
// Takes the times of jobs, by turns.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/harness/command.h"
#include "bench/launch_speed/figures.h"

namespace pop::bench {

/// One contestant's way to run a job.
struct Entry {
  std::string contestant;
  bool is_peer = false;
  Command command;
  int ranks = 0;                      // that must be in its output: "rank 0" … "rank N-1"
  std::function<void()> get_ready{};  // before each run, and no part of it; may be empty
};

struct Turns {
  std::string job;    // its name in figures and records
  int processes = 0;  // the N of figures and records
  int repeats = 0;    // counted; one more round before them warms up
  std::chrono::milliseconds quiet_timeout{};
};

/// Empty for a run that counts.
std::string failureOf(const Result<RunResult>& run, int ranks);

/// Adds one figure for each entry, in their order.
void takeTimes(const Turns& turns, const std::vector<Entry>& entries, std::vector<TimeFigure>& figures);

}  // namespace pop::bench
