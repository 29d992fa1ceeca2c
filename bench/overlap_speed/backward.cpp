// SPDX-License-Identifier: Apache-2.0
#include "bench/overlap_speed/backward.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "bench/harness/clock.h"
#include "popdist/communicator.hpp"
#include "popdist/strategy.hpp"
#include "popdist/weight_update.hpp"

namespace pop::bench {
namespace {

namespace train = popdist::train;

/// A fixed amount of work, which takes longer when others take the core.
class Layer {
 public:
  Layer(popdist::Context& context, const BackwardSetting& setting) : setting_(setting) {
    if (setting.computes == Computes::kDevice) return;
    constexpr int kTrialPasses = 500;
    double least = 1;
    for (int trial = 0; trial < 20; ++trial) {
      const auto begin = Clock::now();
      pass(kTrialPasses);
      least = std::min(least, secondsSince(begin) / kTrialPasses);
    }
    double passes[] = {setting.layer_ms * 1e-3 / least};
    context.world().allReduce(passes, popdist::Operator::kMin);
    passes_ = static_cast<int>(passes[0]);
  }

  void compute() {
    if (setting_.computes == Computes::kDevice)
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(setting_.layer_ms));
    else
      pass(passes_);
  }

 private:
  void pass(int count) {
    for (int i = 0; i < count; ++i)
      for (float& value : values_) value = value * 0.999F + 0.001F;
    *const_cast<volatile float*>(values_.data()) = values_[1];
  }

  const BackwardSetting& setting_;
  std::vector<float> values_ = std::vector<float>(4096, 1.0F);
  int passes_ = 0;
};

class Backward {
 public:
  Backward(popdist::Context& context, const BackwardSetting& setting)
      : context_(context),
        layers_(static_cast<std::size_t>(setting.layers)),
        layer_(context, setting),
        strategy_(context, {.fusion = setting.fusion}) {
    popdist::Spec spec;
    for (std::size_t layer = 0; layer < layers_; ++layer)
      spec.push_back(
          {"layer." + std::to_string(layer), popdist::Type::kFloat, {setting.layer_bytes / sizeof(float)}});
    gradients_.emplace_back(context, spec);
    reduction_ = strategy_.reductionOf(gradients_);
    if (!setting.updates) return;
    values_.emplace_back(context, spec);
    update_.emplace(context, spec, spec, train::adam({}),
                    train::WeightUpdateOptions{.variables_on_host = true});
    telling_ = strategy_.reductionOf(gradients_);
    telling_->onReduced([this](std::size_t layer) { update_->applyTo(layer, gradients_.front(), values_); });
  }

  BackwardTimes round() {
    return {.compute = secondsOf([&] { pass(false); }),
            .reduction = secondsOf([&] { reduce(); }),
            .without = secondsOf([&] {
              pass(false);
              reduce();
            }),
            .with = secondsOf([&] {
              pass(true);
              overlapped().wait();
              if (update_) update_->finish();
            })};
  }

 private:
  void pass(bool tells) {
    for (std::size_t layer = layers_; layer-- > 0;) {
      layer_.compute();
      if (tells) overlapped().ready(0, layer);
    }
  }

  void reduce() {
    for (std::size_t layer = layers_; layer-- > 0;) reduction_->ready(0, layer);
    reduction_->wait();
    if (update_) update_->apply(gradients_.front(), values_);
  }

  train::GradientReduction& overlapped() { return telling_ ? *telling_ : *reduction_; }

  double secondsOf(const std::function<void()>& work) {
    context_.world().barrier();
    const auto begin = Clock::now();
    work();
    double seconds[] = {secondsSince(begin)};
    context_.world().allReduce(seconds, popdist::Operator::kMax);
    return seconds[0];
  }

  popdist::Context& context_;
  const std::size_t layers_;
  Layer layer_;
  train::IpuMultiWorkerStrategy strategy_;
  std::vector<train::FlatTensors> gradients_;
  std::vector<train::FlatTensors> values_;
  std::optional<train::WeightUpdate> update_;
  std::unique_ptr<train::GradientReduction> reduction_;
  std::unique_ptr<train::GradientReduction> telling_;
};

}  // namespace

const char* nameOf(Computes computes) {
  return computes == Computes::kDevice ? "device" : "host";
}

double BackwardTimes::hideable(int layers) const {
  return std::min(reduction, compute * (layers - 1) / layers);
}

double BackwardTimes::hiddenShare(int layers) const {
  return (without - with) / hideable(layers);
}

double BackwardTimes::calmness(const BackwardSetting& setting) const {
  return setting.layers * setting.layer_ms * 1e-3 / compute;
}

std::vector<BackwardTimes> measureBackward(popdist::Context& context, const BackwardSetting& setting) {
  Backward backward(context, setting);
  backward.round();  // the first one warms up
  std::vector<BackwardTimes> rounds;
  for (int round = 0; round < setting.rounds; ++round) rounds.push_back(backward.round());
  return rounds;
}

}  // namespace pop::bench
