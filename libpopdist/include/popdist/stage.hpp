// SPDX-License-Identifier: Apache-2.0
// A stage of a pipeline (pipeline.hpp): what it declares, and what its functions see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "popdist/cxx20.hpp"
#include "popdist/schedule.hpp"
#include "popdist/tensor.hpp"

namespace popdist::train {

struct Stage;

/// "availableMemoryProportion": "0.3"
using StageOptions = std::map<std::string, std::string, std::less<>>;

namespace detail {
class Interpreter;
struct Side {
  const Spec* spec = nullptr;
  std::byte* const* data = nullptr;
};
}  // namespace detail

/// The tensors that a stage's function reads and writes in one call. Valid in that call, in its thread.
/// Tensors are found by name, or, more quickly, by position; inputs lie in the order of the stages that made
/// them. Functions throw popdist_error kNotFound (no such tensor; names those that there are),
/// kInvalidArgument (of another type than T), kFailedPrecondition (not in this pass).
class Io {
 public:
  template <typename T = float, typename Key>
  std::span<const T> in(Key key) const {
    return view<const T>(in_, "input", key);
  }
  /// An output of the forward, which writes all of it; afterwards as it was.
  template <typename T = float, typename Key>
  std::span<T> out(Key key) const {
    return view<T>(out_, "output", key);
  }
  /// A tensor that the forward writes for the backward: Stage::saved.
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
  /// In the backward, zero at first: the stage leaves the gradient there. Empty if it is not needed: for the
  /// first level's inputs, and for tensors that are not floating point.
  template <typename T = float, typename Key>
  std::span<T> gradIn(Key key) const {
    return gradientIn<T>(backwardOnly(grad_in_, "gradIn"), key);
  }
  /// In the backward: the stage *adds* to it.
  template <typename T = float>
  std::span<T> gradPar(std::size_t position) const {
    return parameter<T>(backwardOnly({nullptr, grad_par_}, "gradPar").data, false, position);
  }

  /// An option of this stage and pass: PipelineOptions::forward_propagation_stages_poplar_options, or
  /// backward_…; `fallback` if there is none of this name.
  std::string_view option(std::string_view name, std::string_view fallback = {}) const;

  int microBatch() const { return micro_batch_; }  ///< this run's, from 0
  std::uint64_t step() const { return step_; }     ///< this run's: see RunOptions::first_step
  int replica() const { return replica_; }         ///< Feeds::replica
  bool training() const { return training_; }
  /// RunOptions::loss_scale, a trainer's LossScale: the last stage multiplies its loss by it, so that all
  /// gradients are, which the trainer divides by it. 1 if it is not set, and in evaluations.
  float lossScale() const { return loss_scale_; }
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
  const StageOptions* options_ = nullptr;  // the pass's
  detail::Side in_, out_, saved_, arguments_, grad_in_, grad_out_;
  std::byte* const* values_ = nullptr;    // by position
  std::byte* const* grad_par_ = nullptr;  // by place in Stage::parameters
  std::uint64_t step_ = 0;
  std::int32_t micro_batch_ = 0;
  int replica_ = 0;
  float loss_scale_ = 1;
  ActionKind pass_ = ActionKind::kForward;
  bool training_ = false;
};

/// Treatment of a saved tensor when the pipeline recomputes.
enum class Keep : std::uint8_t {
  kRecomputed,  ///< not kept: the second forward writes it again
  kCheckpoint,  ///< kept, so that the second forward need not compute it
  kStateful,    ///< kept, because the second forward would give another one, such as a mask of dropout
};

struct Saved {
  TensorSpec tensor{};
  Keep keep = Keep::kRecomputed;
};

using StageFunction = std::function<void(Io& io)>;

/// A part of a stage, such as a layer, with functions of its own. Its inputs are the outputs of the segment
/// before, of the first segment those of the stage; it uses the stage's parameters. Where recomputation goes
/// segment by segment, each segment's inputs are checkpoints.
struct Segment {
  Spec outputs{};
  std::vector<Saved> saved{};
  StageFunction forward{};
  StageFunction backward{};
};

/// Its inputs are the outputs of all stages of the level before; those of the first level are the infeed's
/// tensors, then the run arguments. Both functions are called in the thread of Pipeline::run. They are the
/// same for the same inputs, whenever they are called.
struct Stage {
  std::string name{};
  std::vector<std::size_t> parameters{};  ///< positions in PipelineOptions::parameters
  Spec outputs{};
  std::vector<Saved> saved{};
  StageFunction forward{};
  StageFunction backward{};  ///< none in any stage: a pipeline that is not trained
  /// In place of outputs, saved, forward and backward, for a stage of several parts. The last one's outputs
  /// are the stage's.
  std::vector<Segment> segments{};
};

/// A stage, or several side by side.
struct Concurrent {
  std::vector<Stage> stages{};
  Concurrent(Stage stage) { stages.push_back(std::move(stage)); }  // NOLINT: {a, {b, c}, d} reads best
  Concurrent(std::initializer_list<Stage> side_by_side) : stages(side_by_side) {}
};

}  // namespace popdist::train
