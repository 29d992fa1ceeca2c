// SPDX-License-Identifier: Apache-2.0
// The loop of data-parallel training: micro-batches to gradients, gradients to sums over micro-batches and
// replicas, sums to new parameters, the same on all replicas.
//
//   train::PopDistStrategy strategy(context);
//   train::Trainer trainer(strategy, parameters, [&](const train::MicroBatch& batch) {
//     batch.metrics[0] += lossAndGradients(batch.input, batch.parameters, batch.gradients);
//   }, train::adam({.rate = 1e-3}), {.accumulation = {.count = 4}, .metrics = {"loss"}});
//   trainer.initialise(42);
//   const train::Progress progress = trainer.run(infeed, 500);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "popdist/accumulation.hpp"
#include "popdist/checkpoint.hpp"
#include "popdist/held.hpp"
#include "popdist/infeed.hpp"
#include "popdist/memory_plan.hpp"
#include "popdist/optimizer.hpp"
#include "popdist/parameters.hpp"
#include "popdist/pipeline.hpp"
#include "popdist/strategy.hpp"
#include "popdist/variables.hpp"
#include "popdist/weight_update.hpp"

namespace popdist::train {

/// The divisor of the gradient, which is summed over replicas: libpopdist divides by one of these, the
/// program's loss by the rest.
enum class GradientScale : std::uint8_t {
  kMeanOfReplicas,  ///< by the number of replicas: the loss is a mean over a replica's samples
  kMeanOfWorkers,   ///< by the number of instances: … over an instance's samples
  kSum,             ///< by nothing: … a sum over its samples divided by the global batch
};

/// For gradients of 16 bits: the loss is multiplied by a number (MicroBatch::loss_scale), which the gradients
/// are divided by; a pipeline's stages have it as Io::lossScale. `dynamic`: if a gradient then is infinite or
/// no number, the update is skipped on all replicas and the number falls; after `growth_interval` updates
/// without one it rises. Otherwise the number stays, and gradients are not checked, which would cost a pass
/// over them: what is infinite or no number goes into the parameters. Watch the loss then.
struct LossScale {
  double initial = 1;  ///< from 2^-120 to 2^120, between which a dynamic one stays
  bool dynamic = false;
  double growth = 2;
  double backoff = 0.5;
  std::uint64_t growth_interval = 2000;
};

/// One micro-batch on one replica.
struct MicroBatch {
  const Tensors& input;
  ConstTensorRefs parameters;
  TensorRefs gradients;         ///< add to them: of the parameters' types, whatever the accumulators' are;
                                ///< not read in evaluations
  std::span<double> metrics{};  ///< add to them: one for each of TrainerOptions::metrics
  int replica = 0;              ///< the job's
  int local_replica = 0;        ///< this instance's
  std::uint64_t update = 0;     ///< number in the run's life, skipped ones included
  int index = 0;                ///< number among the micro-batches of this update
  bool training = true;         ///< false: evaluate() calls, no gradients are needed
  float loss_scale = 1;
  /// Says that the update's gradient of a parameter is final, so that its reduction may begin. Optional; of
  /// the last micro-batch of an update only: does nothing elsewhere.
  const std::function<void(std::size_t parameter)>& ready;
};
using Step = std::function<void(const MicroBatch&)>;

/// A step that is a pipeline: each replica has one, on its IPUs.
struct PipelineProgram {
  /// Its gradient_accumulation_count are the micro-batches of an update.
  PipelineOptions pipeline{};
  io::Outfeed* outfeed = nullptr;      ///< for this instance's replicas, if the last stage sends something
  const Tensors* arguments = nullptr;  ///< run arguments, read for each update
  /// Stages' times on the device: a Pod's clock advances by a run's simulated time.
  std::optional<SimulationOptions> times{};
};

struct TrainerOptions {
  GradientAccumulation accumulation{};
  GradientScale gradient_scale = GradientScale::kMeanOfReplicas;
  LossScale loss_scale{};
  /// WeightUpdateOptions::replicas_per_state.
  int replicas_per_optimizer_state = 1;
  std::vector<std::string> metrics{};  ///< names, each once
  double flops_per_micro_batch = 0;    ///< for a Pod's clock; with a pipeline, in place of its `times`
  /// Facts on the device's memory. accumulation, replicas, replicas_per_state, ipus_per_replica and
  /// variables_on_host are the training's own; planMemory says whether all of it fits. Updates advance a
  /// Pod's clock by the time of what they stream.
  MemoryPlanOptions memory{};
  /// Saved and resumed with the parameters, by all instances together. Must outlive the trainer.
  Variables* variables = nullptr;
};

/// Time of this instance's thread by purpose, in seconds.
struct Times {
  double input = 0;      ///< waiting for the infeed
  double step = 0;       ///< the program's step, its reductions that overlap it included
  double reduction = 0;  ///< gradients over replicas, what of it did not overlap
  double update = 0;
  double all = 0;  ///< the whole call; the rest is the loop's own
};

/// Results of a number of micro-batches, over all replicas of the job.
struct Progress {
  std::uint64_t updates = 0;  ///< done
  std::uint64_t skipped = 0;  ///< because of LossScale
  std::uint64_t micro_batches = 0;
  Times seconds{};  ///< this instance's
  std::vector<std::string> names{};
  std::vector<double> sums{};

  /// Sum of the metric `name`. Throws popdist_error kNotFound with the names that there are.
  double sum(std::string_view name) const;
  /// NaN where there were no micro-batches, as of what a job that goes on has trained before an evaluation.
  double meanOfMicroBatches(std::string_view name) const;
};

struct ResumeOptions {
  /// Refuse what would change bits: another number of replicas, of micro-batches an update or of samples a
  /// micro-batch; other parameters or TrainerOptions::variables, or fewer; another optimizer (its transforms,
  /// Transform::settings and first rate), accumulation, gradient_scale, rules of the loss scale or treatment
  /// of denormals. The program must keep what no trainer can see: the data and its order (its seed),
  /// the step, and functions of the program, such as a rate's course. Older checkpoints tell less, and are
  /// compared by that. false: samples that the epoch has used are kept, where they are whole micro-batches;
  /// bits are not.
  bool exactly = true;
};

struct TrainSpec {
  io::Infeed* infeed = nullptr;   ///< repeat() its dataset
  std::uint64_t max_updates = 0;  ///< in the training's whole life, skipped ones included
};
struct EvalSpec {
  io::Infeed* infeed = nullptr;        ///< started anew for each evaluation
  std::uint64_t every_updates = 1000;  ///< a multiple of updates: a checkpoint, then an evaluation
};

class Trainer {
 public:
  /// Called by every instance, with equal arguments. The strategy must outlive this. Costs memory for
  /// parameters, gradients and accumulators of each replica, two small all-reduces, and what WeightUpdate and
  /// the strategy's reduction cost. Throws popdist_error kInvalidArgument naming what is out of range, and
  /// kFailedPrecondition with the same on instances whose own arguments are right; kFailedPrecondition, on
  /// all instances, naming the first argument that is not the same on all, the first two instances that
  /// differ and what they have: parameters, the optimizer as ResumeOptions sees it, and options; and as
  /// those.
  Trainer(Strategy& strategy, Parameters parameters, Step step, Optimizer optimizer,
          TrainerOptions options = {});
  /// The same with a pipeline in place of a step. TrainerOptions::accumulation and metrics stay unset: the
  /// pipeline accumulates, and its outfeed tells.
  Trainer(Strategy& strategy, Parameters parameters, PipelineProgram program, Optimizer optimizer,
          TrainerOptions options = {});
  ~Trainer();
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;

  /// Instance 0 draws the parameters, by its `seed`; all replicas get them. Collective. Throws popdist_error
  /// kFailedPrecondition if some instances flush denormals and others do not (FlushDenormals), and so does
  /// resume().
  void initialise(std::uint64_t seed);

  /// `updates` updates of GradientAccumulation::count micro-batches each, on every replica of this instance,
  /// in this thread: a micro-batch on each replica, then the next one. Collective.
  ///
  /// Differences between instances are found at the beginning of each call, as by the constructor, for the
  /// price of a small all-reduce: another call (evaluate(), save(), …), `updates`, the number of updates so
  /// far, the micro-batch, the optimizer's rates, the treatment of denormals, and the steps of a dataset
  /// before the one that deals it out, forReplicas() or shard() (Infeed::shared). All throw popdist_error
  /// kFailedPrecondition, and can go on. Rates are compared once more at the end, those of the last update.
  ///
  /// Throws popdist_error kOutOfRange when the infeed ends before (repeat() the dataset, or ask for fewer),
  /// and what the step, the infeed and the collectives throw. That is thrown on this instance; at once all
  /// others get a popdist_error, in the call that they wait in or in their next one, with this instance as
  /// peer(), the exception's type and text and those of the exceptions nested in it, and its code, kAborted
  /// if it has none. On each of them parameters are then those of its last whole update (undefined after an
  /// error of a collective), and the trainer can only be asked for them: other calls throw
  /// kFailedPrecondition. To go on, make a new strategy and trainer, and resume() from what was saved. Throws
  /// popdist_error kFailedPrecondition before initialise(), resume() or load() has given the parameters
  /// values, and kInvalidArgument for an infeed of another number of replicas than this instance's.
  Progress run(io::Infeed& infeed, std::uint64_t updates);

  /// The same step without updates: micro-batches until the infeed's pass ends, none if it has. Neither
  /// parameters nor the optimizer's state change. Collective. Throws as run() does, and popdist_error
  /// kInvalidArgument for a pass that never ends, and with a pipeline for one of unknown length.
  Progress evaluate(io::Infeed& infeed);

  /// Copies parameters, the optimizer's state, the loss scale and the place in the data, and begins to write
  /// them: Checkpoints::save, whose rules and errors hold. `infeed` is the one that run() takes from.
  void save(Checkpoints& checkpoints, const io::Infeed& infeed);

  /// Goes on from the newest checkpoint, whatever split over instances and sharing of state has written it,
  /// and starts `infeed` where that was. False: there is none, and nothing has changed. Collective. Throws
  /// popdist_error kFailedPrecondition naming what differs (ResumeOptions), and kDataLoss for a checkpoint
  /// that no trainer has made: nothing has changed then. And as Checkpoints::resume; parameters and state are
  /// then undefined: initialise() anew.
  bool resume(Checkpoints& checkpoints, io::Infeed& infeed, const ResumeOptions& options = {});

  /// Takes the parameters of `checkpoint`, and TrainerOptions::variables; counts and the optimizer's state
  /// stay: for evaluate(). Collective. Throws popdist_error kFailedPrecondition where instances have
  /// different checkpoints, and as Checkpoint::load; parameters are then undefined.
  void load(const Checkpoint& checkpoint);

  /// All replicas have the same. Where the strategy has variables on the host these are the devices' copies:
  /// what a program changes there is gone with the next update.
  ConstTensorRefs parameters() const;
  /// To set them by hand, the same on all replicas, in place of initialise(): the next collective call throws
  /// kFailedPrecondition, on all instances, where what was set differs. With several instances it costs a
  /// pass over the parameters, once before each such call, and one more in it; parameters() costs nothing.
  /// Throws popdist_error kOutOfRange for a replica that is not this instance's.
  TensorRefs parametersOf(int local_replica);

  std::uint64_t updates() const;      ///< in the training's whole life, skipped ones included
  std::uint64_t updatesDone() const;  ///< skipped ones not counted
  double lossScale() const;           ///< now
  int instances() const;              ///< the job's
  /// micro_batch · count · replicas: the global batch. Throws popdist_error kInvalidArgument where no int can
  /// hold it, or micro_batch is below 0.
  int samplesPerUpdate(int micro_batch) const;

  WeightUpdate& weightUpdate();
  /// The plan for TrainerOptions::memory: what the device keeps where, and what an update streams.
  const MemoryPlan& memoryPlan() const;
  /// True if a parameter is updated as soon as its gradient has been reduced: the strategy has variables on
  /// the host, and the update can do with one gradient at a time. Times::step then hides what others have in
  /// reduction and update.
  bool updatesByGradient() const;

 private:
  friend std::uint64_t trainAndEvaluate(
      Trainer&, Checkpoints&, const TrainSpec&, const EvalSpec&, std::uint64_t,
      const std::function<void(std::uint64_t, const Progress&, const Progress&)>&);
  friend std::uint64_t evaluateAll(Trainer&, const std::filesystem::path&, io::Infeed&,
                                   const std::function<void(const Position&, const Progress&)>&);

  class Impl;
  popdist::detail::Held<Impl, "Trainer"> impl_;
};

/// Trains to train.max_updates, from the newest checkpoint if there is one, else from `seed`: saves and
/// evaluates after every eval.every_updates, and at the end. Calls `evaluated` then, on every instance, with
/// the updates so far, what training has summed since the last call, and what the evaluation has. A job that
/// is started again goes on: first with an evaluation whose call had not returned when the job ended, where
/// training has summed nothing. One that had reached its end does nothing and returns 0. Returns the updates
/// of this call. Collective. Waits for the last checkpoint. Throws popdist_error kInvalidArgument (no infeed,
/// numbers that are 0), and as Trainer's functions. From: tf.estimator.train_and_evaluate.
std::uint64_t trainAndEvaluate(Trainer& trainer, Checkpoints& checkpoints, const TrainSpec& train,
                               const EvalSpec& eval, std::uint64_t seed,
                               const std::function<void(std::uint64_t updates, const Progress& trained,
                                                        const Progress& evaluated)>& evaluated = {});

}  // namespace popdist::train
