// SPDX-License-Identifier: Apache-2.0
// The optimizers: what each does to a block.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/update/kernels.h"
#include "libpopdist/train/update/rate_range.h"
#include "libpopdist/train/update/state_names.h"
#include "popdist/optimizer.hpp"

namespace popdist::train {
namespace {

Optimizer only(Transform transform) {
  return {{std::move(transform)}};
}

void checkAtLeast0(double value, const char* what, const char* function) {
  if (value >= 0 && std::isfinite(value)) return;
  throwIfError(
      pop::invalidArgument(std::string(what) + " is " + pop::numberText(value) + ", expected 0 or more"),
      function);
}

void checkBelow1(double value, const char* what, const char* function) {
  if (value >= 0 && value < 1) return;
  throwIfError(pop::invalidArgument(std::string(what) + " is " + pop::numberText(value) +
                                    ", expected at least 0 and less than 1"),
               function);
}

void scale(const Block& block, double factor) {
  kernels().scale(block.update.data(), block.update.size(), static_cast<float>(factor));
}

double rateAt(const LearningRate& rate, std::uint64_t updates_done, const char* function) {
  const double now = rate.at(updates_done);
  if (!isRate(now))
    throwIfError(pop::invalidArgument("the learning rate after " + std::to_string(updates_done) +
                                      " updates is " + pop::numberText(now) + ", expected " + kRateRange),
                 function);
  return now;
}

Optimizer scaleByRate(LearningRate rate) {
  std::string first = "from " + pop::numberText(rateAt(rate, 0, "LearningRate"));
  return only({.name = "rate",
               .prepare =
                   [rate = std::move(rate)](std::uint64_t updates_done) {
                     return std::vector{rateAt(rate, updates_done, "WeightUpdate.apply")};
                   },
               .apply = [](const Block& block) { scale(block, block.of_update[0]); },
               .settings = std::move(first)});
}

/// Corrections of both moments, for all blocks of an update.
std::vector<double> biasCorrections(const AdamOptions& options, std::uint64_t updates_done) {
  const auto t = static_cast<double>(updates_done + 1);
  return {1 / (1 - std::pow(options.beta1, t)), 1 / (1 - std::pow(options.beta2, t))};
}

AdamFactors factorsOf(const AdamOptions& options, std::span<const double> corrections) {
  return {.beta1 = static_cast<float>(options.beta1),
          .beta2 = static_cast<float>(options.beta2),
          .rest1 = static_cast<float>(1 - options.beta1),
          .rest2 = static_cast<float>(1 - options.beta2),
          .correction1 = static_cast<float>(corrections[0]),
          .correction2 = static_cast<float>(corrections[1]),
          .epsilon = static_cast<float>(options.epsilon)};
}

Optimizer scaleByAdam(const AdamOptions& options, const char* function) {
  checkBelow1(options.beta1, "beta1", function);
  checkBelow1(options.beta2, "beta2", function);
  checkAtLeast0(options.epsilon, "epsilon", function);
  return only({.name = "adam",
               .state = {"m", "v"},
               .prepare = [options](std::uint64_t done) { return biasCorrections(options, done); },
               .apply =
                   [options](const Block& block) {
                     kernels().adam(block.update.data(), block.state[0].data(), block.state[1].data(),
                                    block.update.size(), factorsOf(options, block.of_update));
                   },
               .settings = "beta1 " + pop::numberText(options.beta1) + ", beta2 " +
                           pop::numberText(options.beta2) + ", epsilon " + pop::numberText(options.epsilon)});
}

Optimizer scaleByTrustRatio() {
  return only({.name = "trust ratio", .norms = Norms::kOfEach, .apply = [](const Block& block) {
                 if (block.norm_of_value > 0 && block.norm_of_update > 0)
                   scale(block, block.norm_of_value / block.norm_of_update);
               }});
}

}  // namespace

pop::Status checkStateNames(std::span<const Transform> transforms) {
  std::set<std::string_view> with_state;
  for (const Transform& each : transforms) {
    if (!each.state.empty() && !with_state.insert(each.name).second)
      return pop::invalidArgument("two transforms keep their state as " + pop::inQuotes(each.name) +
                                  ": give one another name");
    const std::set<std::string_view> names(each.state.begin(), each.state.end());
    if (names.size() < each.state.size())
      return pop::invalidArgument("the transform " + pop::inQuotes(each.name) +
                                  " keeps two states under one name: " + pop::join(each.state, ", "));
  }
  return pop::Status();
}

Optimizer chain(Optimizer first, Optimizer second) {
  std::move(second.transforms.begin(), second.transforms.end(), std::back_inserter(first.transforms));
  throwIfError(checkStateNames(first.transforms), "chain");
  first.casts_gradients = first.casts_gradients || second.casts_gradients;
  return first;
}

Optimizer sgd(LearningRate rate) {
  return scaleByRate(std::move(rate));
}

Optimizer momentum(MomentumOptions options) {
  checkBelow1(options.momentum, "momentum", "momentum");
  const auto factor = static_cast<float>(options.momentum);
  const auto step = options.nesterov ? kernels().nesterov : kernels().momentum;
  Transform keep{.name = "momentum",
                 .state = {"velocity"},
                 .apply =
                     [factor, step](const Block& block) {
                       step(block.update.data(), block.state[0].data(), block.update.size(), factor);
                     },
                 .settings = pop::numberText(options.momentum) + (options.nesterov ? ", nesterov" : "")};
  return chain(only(std::move(keep)), scaleByRate(std::move(options.rate)));
}

Optimizer adam(AdamOptions options) {
  if (options.weight_decay != 0)
    throwIfError(pop::invalidArgument("weight_decay is " + pop::numberText(options.weight_decay) +
                                      ", and adam has none: take adamw, or addDecayedWeights before adam"),
                 "adam");
  return chain(scaleByAdam(options, "adam"), scaleByRate(options.rate));
}

Optimizer adamw(AdamOptions options) {
  return chain(scaleByAdam(options, "adamw"), addDecayedWeights(options.weight_decay),
               scaleByRate(options.rate));
}

Optimizer lamb(AdamOptions options) {
  return chain(scaleByAdam(options, "lamb"), addDecayedWeights(options.weight_decay), scaleByTrustRatio(),
               scaleByRate(options.rate));
}

Optimizer clipByGlobalNorm(double most) {
  checkAtLeast0(most, "most", "clipByGlobalNorm");
  return only({.name = "clip by global norm",
               .norms = Norms::kOfAll,
               .apply =
                   [most](const Block& block) {
                     if (block.norm_of_all > most) scale(block, most / block.norm_of_all);
                   },
               .settings = pop::numberText(most)});
}

Optimizer clipByValue(double most) {
  checkAtLeast0(most, "most", "clipByValue");
  return only({.name = "clip by value",
               .apply =
                   [most](const Block& block) {
                     kernels().clip(block.update.data(), block.update.size(), static_cast<float>(most));
                   },
               .settings = pop::numberText(most)});
}

Optimizer addDecayedWeights(double decay) {
  checkAtLeast0(decay, "decay", "addDecayedWeights");
  return only({.name = "decay",
               .apply =
                   [decay](const Block& block) {
                     if (decay > 0)
                       kernels().add(block.update.data(), block.value.data(), block.update.size(),
                                     static_cast<float>(decay));
                   },
               .settings = pop::numberText(decay)});
}

Optimizer mapGradients(std::string name, std::function<void(const Block&)> function) {
  if (!function) throwIfError(pop::invalidArgument("there is no function"), "mapGradients");
  return only({.name = std::move(name), .apply = std::move(function)});
}

Optimizer castGradients(Optimizer optimizer) {
  optimizer.casts_gradients = true;
  return optimizer;
}

}  // namespace popdist::train
