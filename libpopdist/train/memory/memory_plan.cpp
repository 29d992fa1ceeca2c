// SPDX-License-Identifier: Apache-2.0
#include "popdist/memory_plan.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/memory/planner.h"
#include "libpopdist/train/trainer/gradient_sums.h"

namespace popdist::train {
namespace {

constexpr const char* kFunction = "planMemory";

std::string line(const std::string& what, const std::string& in_processor, const std::string& streaming) {
  const auto before = [](const std::string& text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ');
  };
  return what + before(what, 30) + before(in_processor, 14) + in_processor + before(streaming, 14) +
         streaming + '\n';
}

std::string shortTime(double seconds) {
  const bool is_short = seconds < 1e-4;
  return pop::numberText(std::round(seconds * (is_short ? 1e7 : 1e4)) / 10) + (is_short ? " us" : " ms");
}

}  // namespace

MemoryPlan planMemory(const Parameters& parameters, const Optimizer& optimizer,
                      const MemoryPlanOptions& options) {
  throwIfError(checkOptions(options), kFunction);
  const pop::Result<Spec> sums = accumulatorsOf(parameters.spec(), options.accumulation);
  throwIfError(sums.status(), kFunction);
  const Decision decision = decideOnUpdateVariables(options);
  MemoryPlanner planner(options, decision.offload);
  MemoryRow& values = planner.row("parameters");
  for (const TensorSpec& each : parameters.spec()) planner.addToIpu(values, each, sizeOf(each.type));
  if (options.variables_on_host) {
    for (const TensorSpec& each : parameters.spec()) values.host = sumOfBytes(values.host, each.bytes());
  }
  MemoryRow& gradients = planner.row("gradients of a micro-batch");
  for (const TensorSpec& each : parameters.spec()) planner.addToIpu(gradients, each, sizeOf(each.type));
  if (options.accumulation.count > 1) {
    MemoryRow& accumulators = planner.row("accumulators");
    for (const TensorSpec& each : sums.value()) planner.addToIpu(accumulators, each, sizeOf(each.type));
  }
  planner.addOptimizer(parameters.spec(), optimizer);
  planner.row("activations").in_processor = options.activation_bytes;
  planner.row("exchange code").in_processor =
      productOfBytes(options.exchange_code_bytes, static_cast<std::uint64_t>(options.replicas - 1));
  std::uint64_t streaming = 0;
  for (const MemoryRow& row : planner.plan.rows) streaming = sumOfBytes(streaming, row.streaming);
  planner.finish(productOfBytes(2, streaming));  // in, and out again
  planner.plan.offload = decision.why;
  throwIfError(planner.fits(decision.offload), kFunction);
  return std::move(planner.plan);
}

SimulatedTime MemoryPlan::streamingTime() const {
  return std::chrono::ceil<SimulatedTime>(std::chrono::duration<double>(std::min(streaming_s, kMostSeconds)));
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
    text +=
        "an update streams " + pop::sizeText(streamed_per_update) + ", some " + shortTime(streaming_s) + '\n';
  return text;
}

}  // namespace popdist::train
