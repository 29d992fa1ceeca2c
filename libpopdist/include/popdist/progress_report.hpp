// SPDX-License-Identifier: Apache-2.0
// Tells people and programs how far a training is.
//
//   train::ProgressReport report(context, {.updates = 5000, .samples_per_update =
//   trainer.samplesPerUpdate(32)}); while (trainer.updates() < 5000) report.add(trainer.run(infeed, 10));
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "popdist/context.hpp"
#include "popdist/trainer.hpp"

namespace popdist::train {

struct ProgressReportOptions {
  std::uint64_t updates = 0;  ///< at which the training ends; 0: unknown
  std::uint64_t done = 0;     ///< before this: of a training that goes on
  int samples_per_update = 0;
  /// Between two lines of a log; a terminal's line is rewritten up to ten times a second.
  std::chrono::milliseconds every{1000};
  /// true: a line that is rewritten. false: a line of JSON each time. Nothing: true if stderr is a terminal.
  std::optional<bool> terminal{};
  std::function<void(std::string_view text)> write{};            ///< default: to stderr
  std::function<std::chrono::steady_clock::time_point()> now{};  ///< default: the steady clock's
};

/// Prints on instance 0 how far a training is: updates, metrics, samples a second and the time that is left.
///
///   update 500/5000  loss 0.234  12,300 samples/s  6 min left        on a terminal, in one line
///   {"update":500,"updates":5000,"seconds":40,"samples_per_second":12300,"seconds_left":360,"metrics":{"loss":0.234}}
///
/// Metrics are means over the micro-batches since the last line; the speed is that since the last line, the
/// time that is left comes from the speed since the start. Every instance may have one: only that of instance
/// 0 prints, and reports "samples_per_second" to popdistd (Context::report). Not to be used by several
/// threads at once.
class ProgressReport {
 public:
  /// Throws popdist_error kInvalidArgument: samples_per_update is below 1, or `done` is beyond `updates`.
  ProgressReport(Context& context, ProgressReportOptions options);
  /// Prints what has not been printed, and ends the terminal's line.
  ~ProgressReport();
  ProgressReport(const ProgressReport&) = delete;
  ProgressReport& operator=(const ProgressReport&) = delete;

  /// Adds a result of Trainer::run. Prints if it is time.
  void add(const Progress& progress);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist::train
