// SPDX-License-Identifier: Apache-2.0
// Trainers: what they are made of, and the order of their calls.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "popdist/denormals.hpp"
#include "popdist/trainer.hpp"
#include "tests/differ/row.h"
#include "tests/differ/training.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::testing {
namespace {

using namespace popdist::train;

/// All that a program of training gives.
struct Given {
  std::string strategy = "popdist";
  Parameters parameters = regression::parameters();
  Optimizer optimizer = sgd(0.1);
  TrainerOptions options{.metrics = {"loss"}};
  std::uint64_t seed = 1;
};

template <typename Change>
std::function<Call(Context&)> given(Change change) {
  return onContext([change](Context& context, bool differs) {
    Given given;
    if (differs) change(given);
    const std::unique_ptr<Strategy> strategy = strategyNamed(given.strategy, context);
    Trainer made(
        *strategy, given.parameters, [](const MicroBatch&) {}, given.optimizer, given.options);
    made.initialise(given.seed);
  });
}

Parameters with(const char* name, Shape shape) {
  Parameters parameters;
  parameters.add("w", {3});
  parameters.add(name, std::move(shape));
  return parameters;
}

Rows models() {
  return {
      {"Trainer",
       "strategy",
       "popdist",
       "horovod",
       {"strategy", "'popdist'", "'horovod'"},
       given([](Given& to) { to.strategy = "horovod"; })},
      {"Trainer", "strategy", "popdist", "none of the names", {"there is no strategy"}, given([](Given& to) {
         to.strategy = "popist";
       })},
      {"Trainer", "optimizer", "sgd(0.1)", "sgd(0.2)", {"optimizer", "0.1", "0.2"}, given([](Given& to) {
         to.optimizer = sgd(0.2);
       })},
      {"Trainer", "optimizer", "sgd", "adam", {"optimizer", "adam"}, given([](Given& to) {
         to.optimizer = adam({.rate = 0.1});
       })},
      {"Trainer", "parameters", "w {3}, b {1}", "b {1} more", {"parameters"}, given([](Given& to) {
         to.parameters.add("c", {1});
       })},
      {"Trainer", "parameters: a name", "b", "c", {"parameters", "b", "c"}, given([](Given& to) {
         to.parameters = with("c", {1});
       })},
      {"Trainer", "parameters: a shape", "{1}", "{2}", {"parameters", "2"}, given([](Given& to) {
         to.parameters = with("b", {2});
       })},
      {"Trainer",
       "parameters: initial values (instance 0's count)",
       "normal",
       "zeros",
       {},
       given([](Given& to) {
         Parameters parameters;
         parameters.add("w", {regression::kInputs});
         parameters.add("b", {1});
         to.parameters = parameters;
       })},
  };
}

Rows trainerOptions() {
  return {
      {"Trainer", "accumulation.count", "1", "0", {"accumulation.count is 0"}, given([](Given& to) {
         to.options.accumulation.count = 0;
       })},
      {"Trainer", "accumulation.count", "1", "2", {"accumulation.count", "'1'", "'2'"}, given([](Given& to) {
         to.options.accumulation.count = 2;
       })},
      {"Trainer", "accumulation.reduction", "sum", "mean", {"accumulation.reduction"}, given([](Given& to) {
         to.options.accumulation.reduction = Reduction::kMean;
       })},
      {"Trainer", "gradient_scale", "mean of replicas", "sum", {"gradient_scale"}, given([](Given& to) {
         to.options.gradient_scale = GradientScale::kSum;
       })},
      {"Trainer", "loss_scale.dynamic", "false", "true", {"loss_scale"}, given([](Given& to) {
         to.options.loss_scale.dynamic = true;
       })},
      {"Trainer", "loss_scale.initial", "1", "8", {"loss_scale.initial", "'1'", "'8'"}, given([](Given& to) {
         to.options.loss_scale.initial = 8;
       })},
      {"Trainer",
       "replicas_per_optimizer_state",
       "1",
       "2",
       {"replicas_per_optimizer_state", "'1'", "'2'"},
       given([](Given& to) { to.options.replicas_per_optimizer_state = 2; })},
      {"Trainer", "metrics", "loss", "none", {"metrics"}, given([](Given& to) { to.options.metrics = {}; })},
      {"Trainer", "flops_per_micro_batch", "0", "5", {"flops_per_micro_batch"}, given([](Given& to) {
         to.options.flops_per_micro_batch = 5;
       })},
      {"Trainer", "memory", "no activations", "9 bytes", {"memory"}, given([](Given& to) {
         to.options.memory.activation_bytes = 9;
       })},
      {"Trainer", "initialise: seed (instance 0's counts)", "1", "2", {}, given([](Given& to) {
         to.seed = 2;
       })},
  };
}

Rows callsOfTrainers() {
  return {
      {"Trainer.run",
       "updates",
       "2",
       "3",
       {"updates", "'2'", "'3'"},
       on<StepTraining>([](StepTraining& t, bool differs) { t.trainer.run(t.infeed, differs ? 3 : 2); })},
      {"Trainer.run",
       "the call",
       "run",
       "evaluate",
       {"'Trainer.run'", "'Trainer.evaluate'"},
       on<StepTraining>([](StepTraining& t, bool differs) {
         if (differs)
           t.trainer.evaluate(t.infeed);
         else
           t.trainer.run(t.infeed, 2);
       })},
      {"Trainer.run",
       "the call",
       "run",
       "initialise",
       {"'Trainer.run'", "'Trainer.initialise'"},
       on<StepTraining>([](StepTraining& t, bool differs) {
         if (differs)
           t.trainer.initialise(1);
         else
           t.trainer.run(t.infeed, 2);
       })},
      {"Trainer.run",
       "number of calls",
       "none, evaluate",
       "1, evaluate",
       {"'Trainer.evaluate'", "'Trainer.run'"},
       on<StepTraining>([](StepTraining& t, bool differs) {
         if (differs) t.trainer.run(t.infeed, 2);
         t.trainer.evaluate(t.infeed);
       })},
      {"Trainer.run",
       "the optimizer's rate",
       "0.1",
       "0.2",
       {"rate", "0.1", "0.2"},
       on<StepTraining>([](StepTraining& t, bool differs) {
         if (differs) *t.rate = 0.2;
         t.trainer.run(t.infeed, 2);
       })},
  };
}

Rows settingsOfTrainers() {
  return {
      {"Trainer.run",
       "denormals",
       "kept",
       "flushed",
       {"denormals", "'kept'", "'flushed'"},
       on<StepTraining>([](StepTraining& t, bool differs) {
         std::optional<FlushDenormals> flush;
         if (differs) flush.emplace();
         t.trainer.run(t.infeed, 2);
       })},
      {"Trainer.run",
       "parametersOf, set before",
       "1",
       "2",
       {"parametersOf()", "w with digest"},
       on<StepTraining>([](StepTraining& t, bool differs) {
         const std::span<float> w = t.trainer.parametersOf(0).get<float>("w");
         std::fill(w.begin(), w.end(), differs ? 2.0F : 1.0F);
         t.trainer.run(t.infeed, 2);
       })},
      {"Trainer.evaluate",
       "parametersOf, set before",
       "1",
       "2",
       {"parametersOf()", "b with digest"},
       on<StepTraining>([](StepTraining& t, bool differs) {
         t.trainer.parametersOf(0).get<float>("b")[0] = differs ? 2.0F : 1.0F;
         t.trainer.evaluate(t.infeed);
       })},
  };
}

}  // namespace

Rows trainerRows() {
  return joined({models(), trainerOptions(), callsOfTrainers(), settingsOfTrainers()});
}

}  // namespace popdist::testing
