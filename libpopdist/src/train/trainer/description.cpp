// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/train/trainer/description.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <string_view>

#include "common/base/text.h"

namespace popdist::train {
namespace {

constexpr double kLeastScale = 0x1p-120;  // a float, with room for gradients
constexpr double kMostScale = 0x1p120;

pop::Status checkScale(const LossScale& scale) {
  if (!(scale.initial >= kLeastScale && scale.initial <= kMostScale))
    return pop::invalidArgument("loss_scale.initial is " + pop::numberText(scale.initial) +
                                ", expected a number from 2^-120 to 2^120");
  if (!(scale.growth >= 1 && scale.growth <= kMostScale) || !(scale.backoff > 0 && scale.backoff <= 1) ||
      scale.growth_interval < 1)
    return pop::invalidArgument("loss_scale has growth " + pop::numberText(scale.growth) + ", backoff " +
                                pop::numberText(scale.backoff) + " and growth_interval " +
                                std::to_string(scale.growth_interval) +
                                ", expected growth from 1 to 2^120, backoff in (0, 1] and an interval of at "
                                "least 1");
  return pop::Status();
}

const char* scaleName(GradientScale scale) {
  switch (scale) {
    case GradientScale::kMeanOfReplicas:
      return "mean of replicas";
    case GradientScale::kMeanOfWorkers:
      return "mean of workers";
    case GradientScale::kSum:
      break;
  }
  return "sum";
}

const char* reductionName(Reduction reduction) {
  switch (reduction) {
    case Reduction::kMean:
      return "mean";
    case Reduction::kRunningMean:
      return "running mean";
    case Reduction::kSum:
      break;
  }
  return "sum";
}

std::string transformsOf(const Optimizer& optimizer) {
  std::string text;
  for (const Transform& each : optimizer.transforms) {
    if (!text.empty()) text += ", ";
    text += each.name;
    if (!each.state.empty()) text += " [" + pop::join(each.state, " ") + "]";
    if (!each.settings.empty()) text += " (" + each.settings + ")";
  }
  return text + (optimizer.casts_gradients ? ", casting gradients" : "");
}

std::string scaleRules(const LossScale& scale) {
  if (!scale.dynamic) return "static";
  return "dynamic, growth " + pop::numberText(scale.growth) + " after " +
         std::to_string(scale.growth_interval) + ", backoff " + pop::numberText(scale.backoff);
}

/// As many types as there are parameters, or one for all.
std::string typesOf(const Spec& sums) {
  std::string text;
  bool same = true;
  for (const TensorSpec& each : sums) {
    text += (text.empty() ? "" : ", ") + std::string(nameOf(each.type));
    same = same && each.type == sums.front().type;
  }
  return same ? std::string(nameOf(sums.front().type)) : text;
}

}  // namespace

pop::Status checkArguments(const Parameters& parameters, const TrainerOptions& options) {
  if (parameters.size() == 0) return pop::invalidArgument("there are no parameters");
  if (options.accumulation.count < 1)
    return pop::invalidArgument("accumulation.count is " + std::to_string(options.accumulation.count) +
                                ", expected 1 or more");
  std::set<std::string_view> metrics;
  for (const std::string& name : options.metrics) {
    if (!metrics.insert(name).second)
      return pop::invalidArgument("two metrics are called " + pop::inQuotes(name));
  }
  return checkScale(options.loss_scale);
}

pop::Status checkReplicas(const Strategy& strategy, const io::Infeed& infeed) {
  if (infeed.replicas() == strategy.numLocalReplicas()) return {};
  return pop::invalidArgument("the infeed has " + pop::counted(infeed.replicas(), "replica") +
                              " and this instance " + pop::counted(strategy.numLocalReplicas(), "replica") +
                              ": set InfeedOptions::replicas to Context::numLocalReplicas()");
}

MemoryPlan planOf(const Strategy& strategy, const Parameters& parameters, const Optimizer& optimizer,
                  const TrainerOptions& options, int micro_batches) {
  MemoryPlanOptions plan = options.memory;
  plan.accumulation = options.accumulation;
  plan.accumulation.count = std::max(1, micro_batches);
  plan.replicas = strategy.numReplicas();
  plan.replicas_per_state = options.replicas_per_optimizer_state;
  plan.variables_on_host = strategy.variablesOnHost();
  plan.ipus_per_replica = strategy.context().numIpusPerReplica();
  plan.in_processor_bytes = plan.streaming_bytes = std::numeric_limits<std::uint64_t>::max();
  return planMemory(parameters, optimizer, plan);
}

Facts rulesOf(const Optimizer& optimizer, const Spec& sums, const TrainerOptions& options) {
  return {{.name = "optimizer", .text = transformsOf(optimizer)},
          {.name = "accumulation.reduction", .text = reductionName(options.accumulation.reduction)},
          {.name = "accumulation.type", .text = typesOf(sums)},
          {.name = "gradient_scale", .text = scaleName(options.gradient_scale)},
          {.name = "loss_scale", .text = scaleRules(options.loss_scale)}};
}

Facts argumentsOf(const Strategy& strategy, const Parameters& parameters, const TrainerOptions& options,
                  int count) {
  return {
      {.name = "strategy", .text = std::string(strategy.name())},
      {.name = "parameters", .text = textOf(parameters.spec())},
      {.name = "accumulation.count", .text = std::to_string(count)},
      {.name = "loss_scale.initial", .text = pop::numberText(options.loss_scale.initial)},
      {.name = "replicas_per_optimizer_state", .text = std::to_string(options.replicas_per_optimizer_state)},
      {.name = "metrics", .text = pop::join(options.metrics, ", ")}};
}

}  // namespace popdist::train
