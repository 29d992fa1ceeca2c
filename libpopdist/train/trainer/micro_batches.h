// SPDX-License-Identifier: Apache-2.0
// Sources of the gradients of an update on the replicas of an instance: a step that is called for each
// micro-batch, or a pipeline that takes all of an update's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/train/trainer/stopwatch.h"
#include "popdist/trainer.hpp"

namespace popdist::train {

/// One call of run() or evaluate().
struct Call {
  io::Infeed& infeed;
  Progress& progress;
  Stopwatch& watch;
  std::uint64_t update = 0;  ///< number in the training's life
  float loss_scale = 1;
};

class MicroBatches {
 public:
  virtual ~MicroBatches() = default;

  /// The micro-batches of an update on all local replicas, each on all of them before the next one: the sums
  /// of their gradients, and reduction.ready() for each replica and parameter.
  virtual void accumulate(const Call& call, GradientReduction& reduction) = 0;
  /// kInvalidArgument: the infeed's pass has no end, or none that is known where it must be.
  virtual pop::Status checkEvaluation(const io::Infeed& infeed) const = 0;
  /// All that the infeed has, without gradients, in the same order.
  virtual void evaluate(const Call& call) = 0;
};

/// kInvalidArgument for an infeed whose pass has no end, which no evaluation can take.
pop::Status checkEnd(const io::Infeed& infeed);

/// `values` and `sums`: of each local replica, for ever at the same places.
std::unique_ptr<MicroBatches> stepByStep(Strategy& strategy, const Spec& parameters, Step step,
                                         const TrainerOptions& options, std::vector<FlatTensors>& values,
                                         std::vector<FlatTensors>& sums);

/// As checkArguments. kInvalidArgument, too: options or parameters that do not fit a pipeline, which
/// accumulates by itself.
pop::Status checkPipeline(const Parameters& parameters, const PipelineProgram& program,
                          const TrainerOptions& options);

std::unique_ptr<MicroBatches> byPipelines(Strategy& strategy, PipelineProgram program,
                                          std::vector<FlatTensors>& values, std::vector<FlatTensors>& sums);

}  // namespace popdist::train
