// SPDX-License-Identifier: Apache-2.0
// A model that is cut into stages, each on an IPU of the replica, and run by a schedule. The maths is the
// user's: tensors in, tensors out; gradients of outputs in, gradients of inputs and parameters out.
//
//   Stage dense{.name = "dense", .parameters = {w}, .outputs = {{"y", Type::kFloat, {32, 10}}},
//               .forward = [=](Io& io) { multiply(io.in("x"), io.par(w), io.out("y")); },
//               .backward = [=](Io& io) { addProduct(io.in("x"), io.gradOut("y"), io.gradPar(w)); }};
//   Pipeline pipeline({.stages = {dense, loss}, .parameters = parameters.spec(), .inputs = infeed.spec(),
//                      .gradient_accumulation_count = 16});
//   pipeline.run(values.refs(), gradients.refs(), {.infeed = &infeed, .outfeed = &losses}, update);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "popdist/cxx20.hpp"
#include "popdist/held.hpp"
#include "popdist/infeed.hpp"
#include "popdist/offload.hpp"
#include "popdist/outfeed.hpp"
#include "popdist/schedule.hpp"
#include "popdist/stage.hpp"
#include "popdist/tensor.hpp"

namespace popdist::train {

namespace detail {
struct SideBySide;
}

struct PipelineOptions {
  std::vector<Concurrent> stages{};
  Spec parameters{};  ///< Parameters::spec()
  Spec inputs{};      ///< the infeed's tensors: they change with each micro-batch
  Spec arguments{};   ///< tensors that change with each run only, such as the learning rate
  DeviceMapping device_mapping{};
  int ipus = 0;
  ScheduleKind schedule = ScheduleKind::kGrouped;
  std::int64_t gradient_accumulation_count = 1;
  CountRule count_rule = CountRule::kTensorFlow;
  bool overlap_io = false;
  bool recompute = false;
  RecomputeMode recompute_mode = RecomputeMode::kAuto;
  /// Micro-batches that a stage takes before the next one begins: ScheduleOptions.
  int batch_serialization_iterations = 1;
  // The tensors' places on the device, as planMemory(pipeline, …) counts them. kAuto is on where
  // batch_serialization_iterations is above 1 and there are remote buffers.
  Offload offload_activations = Offload::kAuto;  ///< those of micro-batches that no stage is working on
  Offload offload_gradient_accumulation_buffers = Offload::kAuto;
  Offload replicated_weight_sharding = Offload::kAuto;  ///< each replica keeps a part, and all gather
  Offload offload_weights = Offload::kAuto;             ///< sharded ones only; refused without
  /// One entry for each stage, or none: what stages read by Io::option.
  std::vector<StageOptions> forward_propagation_stages_poplar_options{};
  std::vector<StageOptions> backward_propagation_stages_poplar_options{};
  bool continuous_weight_updates = false;  ///< refused: it has never been implemented
  std::string loss{};                      ///< an output of the last level
  bool outfeed_loss = false;               ///< the outfeed gets the loss alone
  std::vector<bool> outfeed_mask{};        ///< for each output of the last level: true is not sent
};

struct Feeds {
  io::Infeed* infeed = nullptr;  ///< if there are inputs
  io::Outfeed* outfeed =
      nullptr;  ///< if the last level has outputs that are sent: one step for each micro-batch
  const Tensors* arguments = nullptr;  ///< if there are such: read once for each run
  int replica = 0;                     ///< the one of infeed and outfeed
};

/// Called once for each run, after its backwards, with the step and the last level's outputs of the last
/// micro-batch.
using UpdateFunction = std::function<void(std::uint64_t step, ConstTensorRefs outputs)>;

struct RunOptions {
  std::optional<std::int64_t> gradient_accumulation_count{};  ///< in place of PipelineOptions'
  std::uint64_t repeat_count = 1;                             ///< runs, each with its update
  std::uint64_t first_step = 0;                               ///< the first run's; the next ones count on
  float loss_scale = 1;                                       ///< Io::lossScale
};

/// A stage's memory on its IPU, in bytes.
struct StageMemory {
  int ipu = 0;
  int micro_batches = 1;        ///< kept at the same time: Schedule::slots
  std::size_t micro_batch = 0;  ///< each one's outputs and kept saved tensors; on the first level also the
                                ///< infeed's tensors
  std::size_t inputs = 0;       ///< a micro-batch's, which the stage before keeps
  std::size_t recomputed = 0;   ///< alive at the same time while it recomputes; of one micro-batch
  std::size_t whole_recomputed = 0;  ///< the same, of all its segments together
};

/// The stages of one replica, and memory for what lies between them. Weights, gradients and outputs have the
/// same bits for every schedule, mapping and mode of recomputation. Used by one thread at a time.
class Pipeline {
 public:
  /// Allocates all of its memory. Throws popdist_error kInvalidArgument naming the stage, tensor or option,
  /// the rule and a way out; kResourceExhausted when there is no memory.
  explicit Pipeline(PipelineOptions options);
  ~Pipeline();
  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;

  /// Takes micro-batches from the infeed, sets `gradients` to their sum, and calls `update`, which changes
  /// the values: repeat_count times. `values` and `gradients` have the spec of the parameters. Throws
  /// popdist_error kInvalidArgument (an illegal count, other tensors than the options say, a feed that is
  /// missing: names what is needed), kFailedPrecondition (no stage has a backward), kOutOfRange (the infeed
  /// ends in the middle of a run), and what stages, feeds and `update` throw; another run then begins anew,
  /// with the infeed's next element.
  void run(ConstTensorRefs values, TensorRefs gradients, const Feeds& feeds, const UpdateFunction& update,
           const RunOptions& options = {});

  /// Forwards only, of so many micro-batches, any number from 1; their outputs go to the outfeed. Throws as
  /// run.
  void evaluate(ConstTensorRefs values, const Feeds& feeds, std::int64_t micro_batches,
                std::uint64_t step = 0);

  const PipelineOptions& options() const;
  const Schedule& schedule() const;  ///< run's; evaluate's with the same count, if it is not trained

  /// Time of a run on the Pod: simulate(schedule(), times).total.
  SimulatedTime simulatedTime(const SimulationOptions& times) const;

  /// Bytes of a replica that stages hand on and keep; with and without recomputation.
  std::size_t storedBytes(bool recompute) const;
  std::size_t storedBytes() const { return storedBytes(options().recompute); }
  StageMemory memoryOf(int stage) const;

  /// Stages, IPUs, schedule, rule of the count, stash, idle time and stored bytes, in lines for people.
  std::string describe() const;

 private:
  friend struct detail::SideBySide;
  class Impl;
  popdist::detail::Held<Impl, "Pipeline"> impl_;
};

}  // namespace popdist::train
