// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/memory/planner.h"

#include <algorithm>
#include <limits>

#include "common/base/text.h"

namespace popdist::train {
namespace {

constexpr std::uint64_t kLeastPartBytes = 128;  // least part of a tensor that is offloaded
constexpr std::uint64_t kMostBytes = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t kLeastBytesPerS = 1'000'000;

std::uint64_t partOf(std::uint64_t whole, std::uint64_t parts) {
  return whole / parts + (whole % parts > 0 ? 1 : 0);
}

}  // namespace

std::uint64_t sumOfBytes(std::uint64_t a, std::uint64_t b) {
  return a > kMostBytes - b ? kMostBytes : a + b;
}

std::uint64_t productOfBytes(std::uint64_t a, std::uint64_t b) {
  return b > 0 && a > kMostBytes / b ? kMostBytes : a * b;
}

pop::Status checkOptions(const MemoryPlanOptions& options) {
  if (options.accumulation.count < 1 || options.replicas < 1 || options.ipus_per_replica < 1)
    return pop::invalidArgument("accumulation.count is " + std::to_string(options.accumulation.count) +
                                ", replicas " + std::to_string(options.replicas) + ", ipus_per_replica " +
                                std::to_string(options.ipus_per_replica) + ", expected 1 or more");
  if (options.streaming_bytes_per_s < kLeastBytesPerS)
    return pop::invalidArgument("streaming_bytes_per_s is " + std::to_string(options.streaming_bytes_per_s) +
                                ", expected " + std::to_string(kLeastBytesPerS) + " (1 MB/s) or more");
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

Decision decideOnUpdateVariables(const MemoryPlanOptions& options) {
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

void MemoryPlanner::addToIpu(MemoryRow& row, const TensorSpec& tensor, std::size_t element_bytes) {
  place(row, tensor, productOfBytes(tensor.elements(), element_bytes), false);
}

void MemoryPlanner::addOfUpdate(MemoryRow& row, const TensorSpec& tensor, std::size_t element_bytes) {
  if (options_.variables_on_host) {
    row.host = sumOfBytes(row.host, productOfBytes(tensor.elements(), element_bytes));
    return;
  }
  const auto parts = static_cast<std::uint64_t>(options_.replicas_per_state);
  const std::uint64_t bytes = productOfBytes(tensor.elements(), element_bytes);
  const bool large = bytes / parts >= kLeastPartBytes;
  const std::uint64_t part = large ? productOfBytes(partOf(tensor.elements(), parts), element_bytes) : bytes;
  place(row, tensor, part, offload_ && large);
}

void MemoryPlanner::addOptimizer(const Spec& parameters, const Optimizer& optimizer) {
  for (const Transform& transform : optimizer.transforms) {
    for (const std::string& name : transform.state) {
      MemoryRow& state = row(transform.name + '.' + name);
      for (const TensorSpec& parameter : parameters) addOfUpdate(state, parameter, sizeof(float));
    }
  }
}

void MemoryPlanner::finish(std::uint64_t streamed_per_update) {
  for (const MemoryRow& each : plan.rows) {
    plan.in_processor = sumOfBytes(plan.in_processor, each.in_processor);
    plan.streaming = sumOfBytes(plan.streaming, each.streaming);
    plan.host = sumOfBytes(plan.host, each.host);
  }
  plan.streamed_per_update = streamed_per_update;
  plan.streaming_s =
      static_cast<double>(plan.streamed_per_update) / static_cast<double>(options_.streaming_bytes_per_s);
}

pop::Status MemoryPlanner::fits(bool offload) const {
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

void MemoryPlanner::place(MemoryRow& row, const TensorSpec& tensor, std::uint64_t bytes, bool offloaded) {
  const auto ipus = static_cast<std::uint64_t>(options_.ipus_per_replica);
  const std::uint64_t here = partOf(bytes, ipus);
  add(row, here, offloaded);
  if (offloaded || here <= largest_bytes_) return;
  largest_bytes_ = here;
  largest_ = row.what + " of " + textOf(tensor);
}

std::string MemoryPlanner::tooMuch(std::uint64_t bytes, std::uint64_t there, const char* memory) const {
  return "an IPU would need " + pop::sizeText(bytes) + " of " + memory + " and has " + pop::sizeText(there) +
         "; the largest tensor, " + largest_ + ", takes " + pop::sizeText(largest_bytes_);
}

}  // namespace popdist::train
