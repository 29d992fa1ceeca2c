// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/trainer/description.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "common/base/text.h"
#include "common/contract/fence_slots.h"

namespace popdist::train {
namespace {

constexpr double kLeastScale = 0x1p-120;  // a float, with room for gradients
constexpr double kMostScale = 0x1p120;
constexpr double kMostFlops = 1e24;
constexpr std::size_t kShortText = 200;

using TypeOfParameter = std::function<Type(const TensorSpec&)>;

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

/// Names of the types: as many as there are parameters, or one for all.
std::string typesOf(const Spec& sums) {
  std::string text;
  bool same = true;
  for (const TensorSpec& each : sums) {
    text += (text.empty() ? "" : ", ") + std::string(nameOf(each.type));
    same = same && each.type == sums.front().type;
  }
  return same ? std::string(nameOf(sums.front().type)) : text;
}

/// A long one by its beginning, and by what others are told from it.
std::string shortTextOf(const Spec& spec) {
  const std::string text = textOf(spec);
  if (text.size() <= kShortText) return text;
  return text.substr(0, kShortText / 2) + "… (" + pop::counted(static_cast<int>(spec.size()), "tensor") +
         ", digest " + std::to_string(pop::contract::tagDigest(text)) + ')';
}

Spec specOf(Variables* variables) {
  Spec spec;
  if (variables == nullptr) return spec;
  for (const Piece& piece : variables->piecesToLoad()) spec.push_back({piece.name, piece.type, piece.shape});
  return spec;
}

std::string textOf(const MemoryPlanOptions& memory) {
  return "offload " + std::to_string(static_cast<int>(memory.offload_weight_update_variables)) +
         ", remote buffers " + std::to_string(static_cast<int>(memory.remote_buffers)) + ", activations " +
         std::to_string(memory.activation_bytes) + ", exchange code " +
         std::to_string(memory.exchange_code_bytes) + ", streaming " +
         std::to_string(memory.streaming_bytes_per_s) + " B/s";
}

std::string textOf(const std::optional<SimulationOptions>& times) {
  if (!times) return "not set";
  std::string text;
  for (const StageTimes& stage : times->stages)
    text += "forward " + std::to_string(stage.forward.count()) + " ps, backward " +
            std::to_string(stage.backward.count()) + " ps, ";
  for (const SimulatedTime each : {times->sync, times->update, times->load, times->store})
    text += std::to_string(each.count()) + " ps ";
  return text;
}

}  // namespace

pop::Status checkArguments(const Parameters& parameters, const TrainerOptions& options) {
  if (parameters.size() == 0) return pop::invalidArgument("there are no parameters");
  if (options.accumulation.count < 1)
    return pop::invalidArgument("accumulation.count is " + std::to_string(options.accumulation.count) +
                                ", expected 1 or more");
  if (!(options.flops_per_micro_batch >= 0 && options.flops_per_micro_batch <= kMostFlops))
    return pop::invalidArgument("flops_per_micro_batch is " + pop::numberText(options.flops_per_micro_batch) +
                                ", expected a number from 0 to " + pop::numberText(kMostFlops));
  const auto* const type_of = std::get_if<TypeOfParameter>(&options.accumulation.type);
  if (type_of != nullptr && !*type_of)
    return pop::invalidArgument("accumulation.type is an empty function: give one, a type, or leave it out");
  std::set<std::string_view> metrics;
  for (const std::string& name : options.metrics) {
    if (name.empty()) return pop::invalidArgument("a metric has no name");
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

Facts rulesOf(const Parameters& parameters, const Optimizer& optimizer, const Spec& sums,
              const TrainerOptions& options) {
  return {{.name = "parameters", .text = shortTextOf(parameters.spec())},
          {.name = "variables", .text = shortTextOf(specOf(options.variables))},
          {.name = "optimizer", .text = transformsOf(optimizer)},
          {.name = "accumulation.reduction", .text = reductionName(options.accumulation.reduction)},
          {.name = "accumulation.type", .text = typesOf(sums)},
          {.name = "gradient_scale", .text = scaleName(options.gradient_scale)},
          {.name = "loss_scale", .text = scaleRules(options.loss_scale)}};
}

Facts argumentsOf(const Strategy& strategy, const Parameters& parameters, const TrainerOptions& options,
                  int count, const std::optional<SimulationOptions>& times) {
  return {
      {.name = "strategy", .text = std::string(strategy.name())},
      {.name = "parameters", .text = textOf(parameters.spec())},
      {.name = "accumulation.count", .text = std::to_string(count)},
      {.name = "loss_scale.initial", .text = pop::numberText(options.loss_scale.initial)},
      {.name = "replicas_per_optimizer_state", .text = std::to_string(options.replicas_per_optimizer_state)},
      {.name = "metrics", .text = pop::join(options.metrics, ", ")},
      {.name = "flops_per_micro_batch", .text = pop::numberText(options.flops_per_micro_batch)},
      {.name = "memory", .text = textOf(options.memory)},
      {.name = "PipelineProgram::times", .text = textOf(times)}};
}

}  // namespace popdist::train
