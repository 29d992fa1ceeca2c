// SPDX-License-Identifier: Apache-2.0
// Optimizers: chains of transforms that make an update of a gradient, which is then subtracted from the
// parameters. A transform sees at most kBlockElements elements of one parameter at a time, so that a chain
// runs in the cache and any part of the model can be updated anywhere.
//
//   const train::Optimizer optimizer =
//       train::chain(train::clipByGlobalNorm(1), train::adamw({.rate = train::linearToZero(3e-3, 5000)}));
//
// From: optax, whose transforms and names these are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "popdist/learning_rate.hpp"
#include "popdist/tensor.hpp"

namespace popdist::train {

inline constexpr std::size_t kBlockElements = 4096;

/// Part of one parameter, in one update.
struct Block {
  const TensorSpec& parameter;  ///< the whole one
  std::size_t first = 0;        ///< this block's first element in it: a multiple of kBlockElements
  std::uint64_t updates_done = 0;
  std::span<float> update{};                  ///< in: the gradient, or what the transforms before have left
  std::span<const float> value{};             ///< the parameter's elements, before this update
  std::span<const std::span<float>> state{};  ///< one for each of Transform::state
  std::span<const double> of_update{};        ///< result of Transform::prepare
  double norm_of_all = 0;                     ///< for Norms::kOfAll: of the updates of all parameters
  double norm_of_update = 0;                  ///< for Norms::kOfEach: of the whole parameter's update
  double norm_of_value = 0;                   ///< likewise, of its elements
};

/// Euclidean norms that a transform needs. Sums of blocks in double, added in their order: the same for every
/// sharding.
enum class Norms : std::uint8_t { kNone, kOfAll, kOfEach };

struct Transform {
  std::string name{};                ///< "adam": of its state, and in texts
  std::vector<std::string> state{};  ///< "m": a float for each element of each parameter, from zero
  Norms norms = Norms::kNone;
  /// Values that all blocks of an update have in common, such as a rate: called once, before them. Optional.
  std::function<std::vector<double>(std::uint64_t updates_done)> prepare{};
  /// Changes block.update, and the state. Must do the same to an element wherever its block begins and ends.
  /// Callers: threads of libpopdist, blocks in any order.
  std::function<void(const Block&)> apply{};
  /// The numbers that it was made with, in words: what instances, and a training that goes on, are compared
  /// by.
  std::string settings{};
};

struct Optimizer {
  std::vector<Transform> transforms{};
  /// Accumulated gradients may have another type than their parameter: see castGradients().
  bool casts_gradients = false;
};

/// The transforms of `first`, then those of the others. Throws popdist_error kInvalidArgument when two of
/// them keep state under one name.
Optimizer chain(Optimizer first, Optimizer second);
template <typename... Rest>
Optimizer chain(Optimizer first, Optimizer second, Rest... rest) {
  return chain(chain(std::move(first), std::move(second)), std::move(rest)...);
}

/// update = rate · gradient
Optimizer sgd(LearningRate rate);

struct MomentumOptions {
  LearningRate rate = 0.1;
  double momentum = 0.9;
  bool nesterov = false;
};
/// velocity = momentum · velocity + gradient; update = rate · velocity, or, as Nesterov has it,
/// rate · (gradient + momentum · velocity). As PyTorch's SGD without dampening.
Optimizer momentum(MomentumOptions options);

struct AdamOptions {
  LearningRate rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< not with adam(), which has none: see adamw()
};
/// Kingma and Ba 2015, with bias correction. Throws popdist_error kInvalidArgument for a weight_decay, as do
/// the others for factors out of range.
Optimizer adam(AdamOptions options);
/// Loshchilov and Hutter 2019: adam, whose update gets weight_decay · value before the rate.
Optimizer adamw(AdamOptions options);
/// You et al. 2020: adamw's update of each parameter times |parameter| / |update|, which is 1 where one of
/// them is 0. epsilon is 1e-6 there.
Optimizer lamb(AdamOptions options);

/// Scales the gradients of all parameters so that their norm is at most `most`.
Optimizer clipByGlobalNorm(double most);
/// Each element into [-most, most].
Optimizer clipByValue(double most);
/// update += decay · value: before an optimizer, the classical L2 penalty.
Optimizer addDecayedWeights(double decay);
/// Any function of a block without state; `name` is for texts.
Optimizer mapGradients(std::string name, std::function<void(const Block&)> function);

/// `optimizer`, for gradients that are accumulated in another type than their parameters'. Without it that is
/// an error.
Optimizer castGradients(Optimizer optimizer);

}  // namespace popdist::train
