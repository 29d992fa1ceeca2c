// SPDX-License-Identifier: Apache-2.0
#include "popdist/memory_plan.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/src/tensor/error_edge.h"
#include "libpopdist/src/train/trainer/gradient_sums.h"

namespace popdist::train {
namespace {

constexpr const char* kFunction = "planMemory";
constexpr std::uint64_t kLeastPartBytes = 128;  // of a tensor that is offloaded

pop::Status check(const MemoryPlanOptions& options) {
  if (options.accumulation.count < 1 || options.replicas < 1 || options.ipus_per_replica < 1)
    return pop::invalidArgument("accumulation.count is " + std::to_string(options.accumulation.count) +
                                ", replicas " + std::to_string(options.replicas) + ", ipus_per_replica " +
                                std::to_string(options.ipus_per_replica) + ", expected 1 or more");
  if (options.replicas_per_state < 1 || options.replicas % options.replicas_per_state != 0)
    return pop::invalidArgument("replicas_per_state is " + std::to_string(options.replicas_per_state) +
                                ", which does not divide the " + pop::counted(options.replicas, "replica"));
  if (options.offload_weight_update_variables == Offload::kOn && !options.remote_buffers)
    return pop::invalidArgument(
        "offload_weight_update_variables is on, and the system has no remote buffers: set it to auto or off");
  if (options.offload_weight_update_variables == Offload::kOn && options.variables_on_host)
    return pop::invalidArgument(
        "offload_weight_update_variables is on, and with variables on the host no IPU has what updates use: "
        "set it to auto or off");
  return pop::Status();
}

struct Decision {
  bool offload = false;
  std::string why;
};

Decision decide(const MemoryPlanOptions& options) {
  switch (options.offload_weight_update_variables) {
    case Offload::kOn:
      return {true, "on: asked for"};
    case Offload::kOff:
      return {false, "off: asked for"};
    case Offload::kAuto:
      break;
  }
  if (options.variables_on_host) return {false, "off: the host makes the updates, and keeps what they use"};
  if (!options.remote_buffers) return {false, "off: the system has no remote buffers"};
  if (options.accumulation.count == 1)
    return {false, "off: every micro-batch has an update, so nothing is used by updates alone for long"};
  return {true, "on: gradients are accumulated over " + std::to_string(options.accumulation.count) +
                    " micro-batches"};
}

class MemoryPlanner {
 public:
  MemoryPlanner(const MemoryPlanOptions& options, bool offload) : options_(options), offload_(offload) {}

  MemoryRow& row(std::string what) {
    plan.rows.push_back({.what = std::move(what)});
    return plan.rows.back();
  }

  /// A tensor that is used while micro-batches are computed.
  void addToIpu(MemoryRow& row, const TensorSpec& tensor, std::size_t element_bytes) {
    place(row, tensor, tensor.elements() * element_bytes, false);
  }

  /// A tensor that only updates use: perhaps in parts, perhaps offloaded.
  void addOfUpdate(MemoryRow& row, const TensorSpec& tensor, std::size_t element_bytes) {
    if (options_.variables_on_host) {
      row.host += tensor.elements() * element_bytes;
      return;
    }
    const auto parts = static_cast<std::uint64_t>(options_.replicas_per_state);
    const std::uint64_t bytes = tensor.elements() * element_bytes;
    const bool large = bytes >= kLeastPartBytes * parts;
    const std::uint64_t part = large ? (tensor.elements() + parts - 1) / parts * element_bytes : bytes;
    place(row, tensor, part, offload_ && large);
  }

  void finish() {
    for (const MemoryRow& each : plan.rows) {
      plan.in_processor += each.in_processor;
      plan.streaming += each.streaming;
      plan.host += each.host;
    }
    plan.streamed_per_update = 2 * plan.streaming;  // in, and out again
    plan.streaming_s =
        static_cast<double>(plan.streamed_per_update) / static_cast<double>(options_.streaming_bytes_per_s);
  }

  pop::Status fits(bool offload) const {
    if (plan.in_processor > options_.in_processor_bytes)
      return {pop::Code::kResourceExhausted,
              tooMuch(plan.in_processor, options_.in_processor_bytes, "In-Processor Memory") +
                  ": lower the micro-batch, recompute activations, " +
                  (offload ? "" : "set offload_weight_update_variables, ") +
                  "share the optimizer's state between more replicas (replicas_per_state is " +
                  std::to_string(options_.replicas_per_state) + "), or give a replica more IPUs (it has " +
                  std::to_string(options_.ipus_per_replica) + ")"};
    if (plan.streaming > options_.streaming_bytes)
      return {pop::Code::kResourceExhausted,
              tooMuch(plan.streaming, options_.streaming_bytes, "Streaming Memory") +
                  ": share the optimizer's state between more replicas (replicas_per_state is " +
                  std::to_string(options_.replicas_per_state) + ")"};
    return pop::Status();
  }

  MemoryPlan plan;

 private:
  void place(MemoryRow& row, const TensorSpec& tensor, std::uint64_t bytes, bool offloaded) {
    const auto ipus = static_cast<std::uint64_t>(options_.ipus_per_replica);
    const std::uint64_t here = (bytes + ipus - 1) / ipus;
    (offloaded ? row.streaming : row.in_processor) += here;
    if (offloaded || here <= largest_bytes_) return;
    largest_bytes_ = here;
    largest_ = row.what + " of " + textOf(tensor);
  }

  std::string tooMuch(std::uint64_t bytes, std::uint64_t there, const char* memory) const {
    return "an IPU would need " + pop::sizeText(bytes) + " of " + memory + " and has " +
           pop::sizeText(there) + "; the largest tensor, " + largest_ + ", takes " +
           pop::sizeText(largest_bytes_);
  }

  const MemoryPlanOptions& options_;
  bool offload_;
  std::uint64_t largest_bytes_ = 0;
  std::string largest_ = "the activations";
};

void addOptimizer(MemoryPlanner& planner, const Spec& parameters, const Optimizer& optimizer) {
  for (const Transform& transform : optimizer.transforms) {
    for (const std::string& name : transform.state) {
      MemoryRow& row = planner.row(transform.name + '.' + name);
      for (const TensorSpec& parameter : parameters) planner.addOfUpdate(row, parameter, sizeof(float));
    }
  }
}

std::string line(const std::string& what, const std::string& in_processor, const std::string& streaming) {
  const auto before = [](const std::string& text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ');
  };
  return what + before(what, 30) + before(in_processor, 14) + in_processor + before(streaming, 14) +
         streaming + '\n';
}

}  // namespace

MemoryPlan planMemory(const Parameters& parameters, const Optimizer& optimizer,
                      const MemoryPlanOptions& options) {
  throwIfError(check(options), kFunction);
  const pop::Result<Spec> sums = accumulatorsOf(parameters.spec(), options.accumulation);
  throwIfError(sums.status(), kFunction);
  const Decision decision = decide(options);
  MemoryPlanner planner(options, decision.offload);
  MemoryRow& values = planner.row("parameters");
  for (const TensorSpec& each : parameters.spec()) planner.addToIpu(values, each, sizeOf(each.type));
  if (options.variables_on_host) {
    for (const TensorSpec& each : parameters.spec()) values.host += each.bytes();
  }
  MemoryRow& gradients = planner.row("gradients of a micro-batch");
  for (const TensorSpec& each : parameters.spec()) planner.addToIpu(gradients, each, sizeOf(each.type));
  if (options.accumulation.count > 1) {
    MemoryRow& accumulators = planner.row("accumulators");
    for (const TensorSpec& each : sums.value()) planner.addToIpu(accumulators, each, sizeOf(each.type));
  }
  addOptimizer(planner, parameters.spec(), optimizer);
  planner.row("activations").in_processor = options.activation_bytes;
  planner.row("exchange code").in_processor =
      options.exchange_code_bytes * static_cast<std::uint64_t>(options.replicas - 1);
  planner.finish();
  planner.plan.offload = decision.why;
  throwIfError(planner.fits(decision.offload), kFunction);
  return std::move(planner.plan);
}

SimulatedTime MemoryPlan::streamingTime() const {
  return std::chrono::ceil<SimulatedTime>(std::chrono::duration<double>(streaming_s));
}

std::string MemoryPlan::text() const {
  std::string text = line("memory of each IPU", "In-Processor", "Streaming");
  for (const MemoryRow& row : rows)
    text += line("  " + row.what, pop::sizeText(row.in_processor), pop::sizeText(row.streaming));
  text += line("  together", pop::sizeText(in_processor), pop::sizeText(streaming));
  text += "offload of what only updates use: " + offload + '\n';
  if (host > 0)
    text +=
        "the host keeps parameters and the optimizer's state, once for an instance: " + pop::sizeText(host) +
        '\n';
  if (streamed_per_update > 0)
    text += "an update streams " + pop::sizeText(streamed_per_update) + ", some " +
            pop::numberText(std::round(streaming_s * 1e4) / 10) + " ms\n";
  return text;
}

}  // namespace popdist::train
