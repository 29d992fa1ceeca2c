// SPDX-License-Identifier: Apache-2.0
// Costs of a trainer's life, as a line in the file that POPDIST_SCALING_LOG names. The line is instance 0's
// own: when a trainer goes, others may have failed, and cannot be asked.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "popdist/trainer.hpp"
#include "scaling/row.h"

namespace popdist::train {

class ScalingLog {
 public:
  /// Reads the variable. `gradient_bytes` of a replica are exchanged in each update. The strategy outlives
  /// this.
  ScalingLog(Strategy& strategy, int accumulation, std::size_t gradient_bytes);
  /// Appends the line, by one write(2). Says on stderr why it could not.
  ~ScalingLog();
  ScalingLog(const ScalingLog&) = delete;
  ScalingLog& operator=(const ScalingLog&) = delete;

  void setAccumulation(int count) { row_.accumulation = count; }

  /// While it lives, Trainer::run runs. Adds what `progress` says when it goes, also by an exception.
  class Run {
   public:
    Run(ScalingLog& log, const Progress& progress, std::uint64_t micro_batch);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    ScalingLog& log_;
    const Progress& progress_;
    const SimulatedTime collectives_;  ///< at the begin
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };

  /// While it lives, time goes to this part of what is outside of Trainer::run, and to the trace.
  class Part {
   public:
    Part(ScalingLog& log, double pop::scaling::Outside::*part, const char* phase)
        : seconds_(log.row_.outside.*part), phase_(phase) {}
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    double& seconds_;
    const char* const phase_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };

 private:
  void write();
  SimulatedTime collectiveTime() const;

  const Pod* const pod_;  // nullptr: the strategy has none
  const std::size_t gradient_bytes_;
  const std::string path_;  // empty: none
  pop::scaling::Row row_;
  const std::chrono::steady_clock::time_point begin_;
  bool has_run_ = false;
};

}  // namespace popdist::train
