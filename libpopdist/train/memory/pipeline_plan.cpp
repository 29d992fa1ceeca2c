// SPDX-License-Identifier: Apache-2.0
#include "popdist/pipeline_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/memory/placement.h"
#include "libpopdist/train/memory/planner.h"

namespace popdist::train {
namespace {

constexpr std::size_t kTitleWidth = 30;  // width of the first column of MemoryPlan::text

SimulatedTime timeOf(std::uint64_t bytes, std::uint64_t bytes_per_s) {
  const double seconds = static_cast<double>(bytes) / static_cast<double>(bytes_per_s);
  return SimulatedTime(std::llround(std::min(seconds, kMostSeconds) * 1e12));
}

/// A stage's parameters, those that it shares with another one included.
struct Weights {
  std::uint64_t whole = 0;
  std::uint64_t part = 0;  ///< a replica's
};

class PipelinePlanner {
 public:
  PipelinePlanner(const Pipeline& pipeline, const Parameters& parameters, const Optimizer& optimizer,
                  MemoryPlanOptions options)
      : pipeline_(pipeline),
        parameters_(parameters.spec()),
        optimizer_(optimizer),
        options_(std::move(options)) {
    options_.ipus_per_replica = 1;  // an IPU at a time
    options_.accumulation.count = static_cast<int>(pipeline.options().gradient_accumulation_count);
    throwIfError(checkOptions(options_), "planMemory");
    if (parameters_ != pipeline.options().parameters)
      throwIfError(pop::invalidArgument("parameters are " + textOf(parameters_) +
                                        ", and the pipeline's are " + textOf(pipeline.options().parameters)),
                   "planMemory");
    placement_ = valueOrThrow(placementOf(pipeline.options(), options_), "planMemory");
    update_ = decideOnUpdateVariables(options_);
    for (const Concurrent& level : pipeline.options().stages) {
      for (const Stage& stage : level.stages) stages_.push_back(&stage);
    }
  }

  PipelinePlan plan() {
    PipelinePlan plan;
    plan.streaming_bytes_per_s = options_.streaming_bytes_per_s;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      plan.streamed.push_back(streamedBy(static_cast<int>(i)));
      if (placement_.sharding && options_.replicas > 1)
        plan.gathered_per_stage = std::max(plan.gathered_per_stage, weightsOf(*stages_[i]).whole);
    }
    std::map<int, std::vector<int>> stages_of;
    for (int stage = 0; stage < static_cast<int>(stages_.size()); ++stage)
      stages_of[pipeline_.schedule().ipuOf(stage)].push_back(stage);
    for (const auto& [ipu, stages] : stages_of) {
      plan.ipus.push_back(ipu);
      plan.memory.push_back(planOf(ipu, stages, plan.streamed_per_update));
    }
    plan.decisions = placement_.decisions;
    return plan;
  }

 private:
  std::uint64_t partBytes(const TensorSpec& tensor) const {
    const auto replicas = static_cast<std::uint64_t>(placement_.sharding ? options_.replicas : 1);
    return (tensor.elements() + replicas - 1) / replicas * sizeOf(tensor.type);
  }

  Weights weightsOf(const Stage& stage) const {
    Weights sums;
    for (const std::size_t position : stage.parameters) {
      sums.whole += parameters_[position].bytes();
      sums.part += partBytes(parameters_[position]);
    }
    return sums;
  }

  Streamed streamedBy(int stage) const {
    const StageMemory memory = pipeline_.memoryOf(stage);
    const Weights weights = weightsOf(*stages_[static_cast<std::size_t>(stage)]);
    const auto together = static_cast<std::uint64_t>(pipeline_.options().batch_serialization_iterations);
    const auto each = [&](std::uint64_t bytes) { return (bytes + together - 1) / together; };
    Streamed streamed;
    if (placement_.activations) {
      const std::uint64_t inputs = pipeline_.schedule().levelOf(stage) > 0 ? memory.inputs : 0;
      streamed.forward += memory.micro_batch + inputs;
      streamed.backward += memory.micro_batch + inputs;
    }
    if (placement_.weights) {
      streamed.forward += each(weights.part);
      streamed.backward += each(weights.part);
    }
    if (placement_.accumulators) streamed.backward += each(2 * weights.whole);
    return streamed;
  }

  // `streamed` becomes what weights and sums take with an update, if that is more.
  MemoryPlan planOf(int ipu, const std::vector<int>& stages, std::uint64_t& streamed) const {
    MemoryPlanner planner(options_, update_.offload);
    std::set<std::size_t> here;
    Weights largest;
    for (const int stage : stages) {
      const Stage& each = *stages_[static_cast<std::size_t>(stage)];
      here.insert(each.parameters.begin(), each.parameters.end());
      if (weightsOf(each).whole > largest.whole) largest = weightsOf(each);
    }
    Spec parameters;
    for (const std::size_t position : here) parameters.push_back(parameters_[position]);

    MemoryRow& values = planner.row("parameters");
    for (const TensorSpec& each : parameters) planner.add(values, partBytes(each), placement_.weights);
    for (const TensorSpec& each : parameters) values.host += options_.variables_on_host ? each.bytes() : 0;
    const std::uint64_t weights = placement_.weights ? values.streaming : 0;
    if (placement_.sharding) planner.add(planner.row("parameters in use"), largest.whole, false);
    planner.add(planner.row("gradients of a micro-batch"), largest.whole, false);
    MemoryRow& accumulators = planner.row("accumulators");
    for (const TensorSpec& each : parameters)
      planner.add(accumulators, each.bytes(), placement_.accumulators);
    const std::uint64_t sums = placement_.accumulators ? accumulators.streaming : 0;
    if (placement_.accumulators) planner.add(planner.row("accumulators in use"), largest.whole, false);
    const std::size_t before = planner.plan.rows.size();
    planner.addOptimizer(parameters, optimizer_);
    std::uint64_t states = 0;
    for (std::size_t i = before; i < planner.plan.rows.size(); ++i) states += planner.plan.rows[i].streaming;
    addActivations(planner, stages);
    planner.add(
        planner.row("exchange code"),
        productOfBytes(options_.exchange_code_bytes, static_cast<std::uint64_t>(options_.replicas - 1)),
        false);
    streamed = std::max(streamed, 2 * weights + sums);
    planner.finish(2 * states + 2 * weights + sums);
    planner.plan.offload = update_.why;
    throwIfError(planner.fits(update_.offload).during("planning IPU " + std::to_string(ipu)), "planMemory");
    return std::move(planner.plan);
  }

  void addActivations(MemoryPlanner& planner, const std::vector<int>& stages) const {
    std::uint64_t waiting = 0;
    std::uint64_t in_use = 0;
    std::uint64_t recomputed = 0;
    double proportion = 0;
    for (const int stage : stages) {
      const StageMemory memory = pipeline_.memoryOf(stage);
      waiting += memory.micro_batch * static_cast<std::uint64_t>(memory.micro_batches);
      in_use = std::max<std::uint64_t>(in_use, memory.micro_batch + memory.inputs);
      recomputed = std::max<std::uint64_t>(recomputed, memory.recomputed);
      proportion = std::max(
          proportion, valueOrThrow(availableMemoryProportionOf(pipeline_.options(), stage), "planMemory"));
    }
    planner.add(planner.row("activations"), waiting, placement_.activations);
    if (placement_.activations) planner.add(planner.row("activations in use"), in_use, false);
    if (pipeline_.options().recompute) planner.add(planner.row("recomputed activations"), recomputed, false);
    if (proportion > 0)
      planner.add(planner.row("temporary memory"),
                  static_cast<std::uint64_t>(proportion * static_cast<double>(options_.in_processor_bytes)),
                  false);
  }

  const Pipeline& pipeline_;
  const Spec& parameters_;
  const Optimizer& optimizer_;
  MemoryPlanOptions options_;
  Placement placement_;
  Decision update_;
  std::vector<const Stage*> stages_;
};

}  // namespace

PipelinePlan planMemory(const Pipeline& pipeline, const Parameters& parameters, const Optimizer& optimizer,
                        const MemoryPlanOptions& options) {
  return PipelinePlanner(pipeline, parameters, optimizer, options).plan();
}

SimulationOptions PipelinePlan::addTo(SimulationOptions times) const {
  if (times.stages.size() == 1) times.stages.resize(streamed.size(), times.stages.front());
  if (times.stages.size() != streamed.size())
    throwIfError(
        pop::invalidArgument("SimulationOptions::stages has times of " + std::to_string(times.stages.size()) +
                             " stages, and the plan is of " + std::to_string(streamed.size())),
        "PipelinePlan.addTo");
  for (std::size_t i = 0; i < streamed.size(); ++i) {
    times.stages[i].forward += timeOf(streamed[i].forward, streaming_bytes_per_s);
    times.stages[i].backward += timeOf(streamed[i].backward, streaming_bytes_per_s);
  }
  times.update += timeOf(streamed_per_update, streaming_bytes_per_s);
  return times;
}

std::string PipelinePlan::text() const {
  const auto fullest = std::max_element(
      memory.begin(), memory.end(),
      [](const MemoryPlan& a, const MemoryPlan& b) { return a.in_processor < b.in_processor; });
  if (fullest == memory.end()) return "";
  std::string title = "memory of IPU " +
                      std::to_string(ipus[static_cast<std::size_t>(fullest - memory.begin())]) +
                      ", the fullest";
  title.resize(kTitleWidth, ' ');
  std::string text = fullest->text().replace(0, kTitleWidth, title);
  Streamed most;
  for (const Streamed& each : streamed) {
    most.forward = std::max(most.forward, each.forward);
    most.backward = std::max(most.backward, each.backward);
  }
  if (most.forward + most.backward > 0)
    text += "for a micro-batch a stage streams at most " + pop::sizeText(most.forward) + " forwards and " +
            pop::sizeText(most.backward) + " backwards\n";
  if (gathered_per_stage > 0)
    text +=
        "a stage gathers at most " + pop::sizeText(gathered_per_stage) + " of weights from the replicas\n";
  for (const std::string& decision : decisions) text += decision + '\n';
  return text;
}

}  // namespace popdist::train
