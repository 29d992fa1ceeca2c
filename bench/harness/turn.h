// SPDX-License-Identifier: Apache-2.0
// Contestants take turns (A B C A B C …), so that a temporary disturbance affects all alike. A turn is a run
// that waited for a quiet machine; a tally says how the turns behind a figure ended.
#pragma once

#include <string>

#include "bench/harness/command.h"
#include "bench/harness/json_line.h"
#include "bench/harness/machine.h"

namespace pop::bench {

/// The cores before a run: quiet if they were idle for 95 % of the last 100 ms.
struct Quiet {
  bool quiet = false;
  double idle_fraction = 0;
};
/// Waits for that, `timeout` at most. Zero: measures nothing, and no run counts as quiet.
Quiet awaitQuiet(std::chrono::milliseconds timeout);

struct Turn {
  Quiet before;
  Result<RunResult> run;
  CpuTimes during;      // of the whole machine
  std::string failure;  // empty: the run counts

  bool hung() const { return run.ok() && run.value().end == End::kTimedOut; }
  double wallMs() const { return run.ok() ? run.value().wall_s * 1e3 : 0; }
  double cpuMs() const { return run.ok() ? run.value().cpu_s * 1e3 : 0; }
  /// Adds the end, and how quiet the machine was before and during the run.
  JsonLine& addTo(JsonLine& line) const;
};

Turn takeTurn(const Command& command, std::chrono::milliseconds quiet_timeout);

/// Empty for a run that succeeded; else with the last line of its output, where most programs report errors.
std::string failureOf(const Result<RunResult>& run);

/// The turns of one contestant for one figure.
struct Tally {
  int good = 0;
  int hung = 0;
  int failed = 0;
  int not_quiet = 0;    // good ones that began although the machine was busy
  std::string failure;  // the first one

  void count(const Turn& turn);
  bool mostlyNotQuiet() const { return not_quiet * 2 > good; }
  /// "~3.14 h1 f2": ~ most began on a busy machine, h hung, f failed.
  std::string marked(const std::string& median) const;
  /// "2 hung, 1 failed of 5; first: exit code 1"; empty without a failure.
  std::string failures() const;
};

inline constexpr const char* kLegend =
    "~: most of the runs did not begin on a quiet machine. hK, fK: K runs hung, failed. -: no run ended "
    "well, "
    "or not measured.\n";

}  // namespace pop::bench
