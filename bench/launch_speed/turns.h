// SPDX-License-Identifier: Apache-2.0
// Measures several commands in turn (A B C A B C …), so that a temporary disturbance affects all alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/harness/command.h"
#include "bench/harness/json_line.h"
#include "bench/harness/quiet_gate.h"
#include "bench/launch_speed/figures.h"

namespace pop::bench {

struct Hooks {
  std::function<void(const JsonLine&)> record;       // each run
  std::function<void(const std::string&)> progress;  // what is being measured now, for people
};

/// One contestant's way to run a job.
struct Entry {
  std::string contestant;
  bool is_peer = false;
  Command command;
  int ranks = 0;                    // that must be in its output: "rank 0" … "rank N-1"
  std::function<void()> get_ready;  // before each run, and no part of it; may be empty
};

struct Turns {
  std::string job;    // its name in figures and records
  int processes = 0;  // the N of figures and records
  int repeats = 0;    // counted; one more round before them warms up
};

/// Empty for a run that counts.
std::string failureOf(const Result<RunResult>& run, int ranks);

/// One figure for each entry, in their order.
std::vector<TimeFigure> takeTimes(const Turns& turns, const std::vector<Entry>& entries,
                                  const QuietGate& gate, const Hooks& hooks);

}  // namespace pop::bench
