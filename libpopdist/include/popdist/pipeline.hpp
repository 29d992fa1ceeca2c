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
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "popdist/cxx20.hpp"
#include "popdist/infeed.hpp"
#include "popdist/outfeed.hpp"
#include "popdist/schedule.hpp"
#include "popdist/tensor.hpp"

namespace popdist::train {

struct Stage;
namespace detail {
class Interpreter;
struct Side {
  const Spec* spec = nullptr;
  std::byte* const* data = nullptr;
};
}  // namespace detail

/// What a stage's function sees in one call, and what it writes. Valid in that call, in its thread. Tensors
/// are found by name, or, more quickly, by position; inputs lie in the order of the stages that made them.
/// Functions throw popdist_error kNotFound (no such tensor; names those that there are), kInvalidArgument (of
/// another type than T), kFailedPrecondition (not in this pass).
class Io {
 public:
  template <typename T = float, typename Key>
  std::span<const T> in(Key key) const {
    return view<const T>(in_, "input", key);
  }
  /// Of the forward, which writes all of it; afterwards as it was.
  template <typename T = float, typename Key>
  std::span<T> out(Key key) const {
    return view<T>(out_, "output", key);
  }
  /// What the forward writes for the backward: Stage::saved.
  template <typename T = float, typename Key>
  std::span<T> saved(Key key) const {
    return view<T>(saved_, "saved tensor", key);
  }
  /// A run argument, such as the learning rate, without handing it on through the stages before.
  template <typename T = float, typename Key>
  std::span<const T> argument(Key key) const {
    return view<const T>(arguments_, "run argument", key);
  }
  /// A parameter by its position in Parameters::spec(); one of Stage::parameters.
  template <typename T = float>
  std::span<const T> par(std::size_t position) const {
    return parameter<const T>(values_, true, position);
  }

  /// In the backward: the gradient of an output. Throws for one that is not floating point, and in the last
  /// stage.
  template <typename T = float, typename Key>
  std::span<const T> gradOut(Key key) const {
    return view<const T>(backwardOnly(grad_out_, "gradOut"), "gradient of output", key);
  }
  /// In the backward, zero at first: what the stage leaves there is the gradient. Empty if nobody needs it:
  /// of the first level's inputs, and of tensors that are not floating point.
  template <typename T = float, typename Key>
  std::span<T> gradIn(Key key) const {
    return gradientIn<T>(backwardOnly(grad_in_, "gradIn"), key);
  }
  /// In the backward: the stage *adds* to it.
  template <typename T = float>
  std::span<T> gradPar(std::size_t position) const {
    return parameter<T>(backwardOnly({nullptr, grad_par_}, "gradPar").data, false, position);
  }

  int microBatch() const { return micro_batch_; }  ///< of this run, from 0
  std::uint64_t step() const { return step_; }     ///< of this run: see RunOptions::first_step
  int replica() const { return replica_; }         ///< Feeds::replica
  bool training() const { return training_; }
  /// In the second pass of a forward. It leaves tensors that are kept (Keep) as they are, and counts nothing.
  bool recomputing() const { return pass_ == ActionKind::kRecompute; }

 private:
  friend class detail::Interpreter;

  template <typename T, typename Key>
  std::span<T> view(detail::Side side, const char* what, Key key) const {
    const auto [data, elements] = locate(side, what, key, typeOf<std::remove_const_t<T>>());
    return {reinterpret_cast<T*>(data), elements};
  }
  template <typename T, typename Key>
  std::span<T> gradientIn(detail::Side side, Key key) const {
    const std::size_t position = find(side, "input", key);
    if (side.data[position] == nullptr) return {};
    return view<T>(side, "gradient of input", position);
  }
  template <typename T>
  std::span<T> parameter(std::byte* const* data, bool by_position, std::size_t position) const {
    const std::size_t place = placeOf(position, typeOf<std::remove_const_t<T>>());
    return {reinterpret_cast<T*>(data[by_position ? position : place]), (*parameters_)[position].elements()};
  }

  std::size_t find(detail::Side side, const char* what, std::string_view name) const;
  std::size_t find(detail::Side side, const char* what, std::size_t position) const;
  std::size_t find(detail::Side side, const char* what, int position) const {
    return find(side, what, static_cast<std::size_t>(position));
  }
  template <typename Key>
  std::pair<std::byte*, std::size_t> locate(detail::Side side, const char* what, Key key, Type type) const {
    return at(side, what, find(side, what, key), type);
  }
  std::pair<std::byte*, std::size_t> at(detail::Side side, const char* what, std::size_t position,
                                        Type type) const;
  std::size_t placeOf(std::size_t parameter, Type type) const;  // in Stage::parameters
  detail::Side backwardOnly(detail::Side side, const char* what) const;

  const Stage* stage_ = nullptr;
  const Spec* parameters_ = nullptr;
  detail::Side in_, out_, saved_, arguments_, grad_in_, grad_out_;
  std::byte* const* values_ = nullptr;    // by position
  std::byte* const* grad_par_ = nullptr;  // by place in Stage::parameters
  std::uint64_t step_ = 0;
  std::int32_t micro_batch_ = 0;
  int replica_ = 0;
  ActionKind pass_ = ActionKind::kForward;
  bool training_ = false;
};

/// What becomes of a saved tensor when the pipeline recomputes.
enum class Keep : std::uint8_t {
  kRecomputed,  ///< not kept: the second forward writes it again
  kCheckpoint,  ///< kept, so that the second forward need not compute it
  kStateful,    ///< kept, because the second forward would give another one, such as a mask of dropout
};

struct Saved {
  TensorSpec tensor;
  Keep keep = Keep::kRecomputed;
};

using StageFunction = std::function<void(Io& io)>;

/// Its inputs are the outputs of all stages of the level before; those of the first level are the infeed's
/// tensors, then the run arguments. Both functions are called in the thread of Pipeline::run. They are the
/// same for the same inputs, whenever they are called.
struct Stage {
  std::string name;
  std::vector<std::size_t> parameters{};  ///< positions in PipelineOptions::parameters
  Spec outputs{};
  std::vector<Saved> saved{};
  StageFunction forward{};
  StageFunction backward{};  ///< none in any stage: a pipeline that is not trained
};

/// A stage, or several side by side.
struct Concurrent {
  std::vector<Stage> stages;
  Concurrent(Stage stage) { stages.push_back(std::move(stage)); }  // NOLINT: {a, {b, c}, d} reads best
  Concurrent(std::initializer_list<Stage> side_by_side) : stages(side_by_side) {}
};

struct PipelineOptions {
  std::vector<Concurrent> stages;
  Spec parameters{};  ///< Parameters::spec()
  Spec inputs{};      ///< of the infeed: what changes with each micro-batch
  Spec arguments{};   ///< what changes with each run only, such as the learning rate
  DeviceMapping device_mapping{};
  int ipus = 0;
  ScheduleKind schedule = ScheduleKind::kGrouped;
  std::int64_t gradient_accumulation_count = 1;
  CountRule count_rule = CountRule::kTensorFlow;
  bool overlap_io = false;
  bool recompute = false;
  RecomputeMode recompute_mode = RecomputeMode::kAuto;
  std::string loss{};                ///< an output of the last level
  bool outfeed_loss = false;         ///< the outfeed gets the loss alone
  std::vector<bool> outfeed_mask{};  ///< of each output of the last level: true is not sent
};

struct Feeds {
  io::Infeed* infeed = nullptr;  ///< if there are inputs
  io::Outfeed* outfeed =
      nullptr;  ///< if the last level has outputs that are sent: one step for each micro-batch
  const Tensors* arguments = nullptr;  ///< if there are such: read once for each run
  int replica = 0;                     ///< of infeed and outfeed
};

/// Called once for each run, after its backwards, with the step and the last level's outputs of the last
/// micro-batch.
using UpdateFunction = std::function<void(std::uint64_t step, ConstTensorRefs outputs)>;

struct RunOptions {
  std::optional<std::int64_t> gradient_accumulation_count{};  ///< in place of PipelineOptions'
  std::uint64_t repeat_count = 1;                             ///< runs, each with its update
  std::uint64_t first_step = 0;                               ///< of the first run; the next ones count on
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

  /// Forwards only, of so many micro-batches; their outputs go to the outfeed. Throws as run.
  void evaluate(ConstTensorRefs values, const Feeds& feeds, std::int64_t micro_batches,
                std::uint64_t step = 0);

  const PipelineOptions& options() const;
  const Schedule& schedule() const;  ///< of run; of evaluate with the same count, if it is not trained

  /// How long a run takes on the Pod: simulate(schedule(), times).total.
  SimulatedTime simulatedTime(const SimulationOptions& times) const;

  /// Of what stages hand on and keep, of a replica; with and without recomputation.
  std::size_t storedBytes(bool recompute) const;
  std::size_t storedBytes() const { return storedBytes(options().recompute); }

  /// Stages, IPUs, schedule, rule of the count, stash, idle time and stored bytes, in lines for people.
  std::string describe() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace popdist::train
