// SPDX-License-Identifier: Apache-2.0
// State of a trainer: parameters and gradients of each local replica, and the training's position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libpopdist/train/agreement/agreement.h"
#include "libpopdist/train/trainer/loss_scaler.h"
#include "libpopdist/train/trainer/micro_batches.h"
#include "libpopdist/train/trainer/same_rates.h"
#include "libpopdist/train/trainer/saved_state.h"
#include "libpopdist/train/trainer/scaling_log.h"
#include "libpopdist/train/trainer/stage_of_life.h"
#include "libpopdist/train/trainer/stopwatch.h"
#include "libpopdist/train/trainer/values_given.h"
#include "popdist/trainer.hpp"

namespace popdist::train {

class Trainer::Impl {
 public:
  /// Compares what instances were given, then makes it. `count`: micro-batches of an update; `times`: of a
  /// pipeline that has.
  static std::unique_ptr<Impl> make(Strategy& strategy, Parameters parameters, const Spec& sums,
                                    Optimizer optimizer, TrainerOptions options, int count,
                                    const std::optional<SimulationOptions>& times = {});

  Impl(Strategy& strategy, Parameters parameters, const Spec& sums, Optimizer optimizer,
       TrainerOptions options, MemoryPlan plan, Facts rules);

  void setStep(Step step);
  void setPipeline(PipelineProgram program);

  void initialise(std::uint64_t seed);
  Progress run(io::Infeed& infeed, std::uint64_t updates);
  Progress evaluate(io::Infeed& infeed);
  void save(Checkpoints& checkpoints, const io::Infeed& infeed);
  bool resume(Checkpoints& checkpoints, io::Infeed& infeed, bool exactly);
  void load(const Checkpoint& checkpoint);

  Strategy& strategy() { return strategy_; }
  std::vector<FlatTensors>& values() { return values_; }
  TensorRefs valuesOf(int local);
  int samplesPerUpdate(int micro_batch) const;
  WeightUpdate& weightUpdate() { return update_; }
  bool updatesByGradient() const { return updates_by_gradient_; }
  std::uint64_t updates() const { return runs_; }
  double lossScale() const { return scaler_.scale(); }
  const MemoryPlan& plan() const { return plan_; }

 private:
  void updateOne(std::size_t parameter);
  bool update();
  void copyToHost();
  void copyToOtherReplicas();
  void loaded();
  std::vector<Piece> piecesToLoad();
  Setting settingWith(const io::Infeed& infeed) const;
  void meet(const char* function, const pop::Status& mine, const std::function<Facts()>& facts);
  pop::Status readyFor(const io::Infeed& infeed) const;
  Facts dataFacts(const io::Infeed& infeed) const;
  Progress begin() const;
  Progress train(io::Infeed& infeed, std::uint64_t updates, Progress progress);
  Call callOf(io::Infeed& infeed, Progress& progress, Stopwatch& watch) const;
  Progress finish(Progress progress, bool has_trained);

  TrainerOptions options_;
  MemoryPlan plan_;
  Facts rules_;
  ScalingLog log_;  // before all that may not fit into memory
  Strategy& strategy_;
  Parameters parameters_;
  std::vector<FlatTensors> values_;       // one for each local replica
  std::vector<FlatTensors> host_values_;  // one, where the strategy has variables on the host
  std::vector<FlatTensors> sums_;
  LossScaler scaler_;
  double factor_ = 1;  // the gradients' sums'
  bool updates_by_gradient_ = false;
  bool flushes_denormals_ = false;
  SameRates rates_;
  WeightUpdate update_;
  std::unique_ptr<GradientReduction> reduction_;  // its thread uses what is above
  int count_;                                     // micro-batches of an update
  StageOfLife stage_;
  ValuesGiven given_;
  std::uint64_t runs_ = 0;  // updates, skipped ones included
  std::unique_ptr<MicroBatches> micro_batches_;
};

}  // namespace popdist::train
