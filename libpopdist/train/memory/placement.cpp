// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/memory/placement.h"

#include <algorithm>
#include <charconv>

#include "common/base/text.h"

namespace popdist::train {
namespace {

constexpr const char* kProportion = "availableMemoryProportion";

class Decider {
 public:
  Decider(const PipelineOptions& pipeline, const MemoryPlanOptions& memory)
      : iterations_(pipeline.batch_serialization_iterations), remote_buffers_(memory.remote_buffers) {}

  pop::Result<bool> decide(const std::string& name, Offload asked, bool needs_remote_buffers = true) {
    if (asked == Offload::kOn && needs_remote_buffers && !remote_buffers_)
      return pop::invalidArgument(name +
                                  " is on, and the system has no remote buffers: set it to kAuto or kOff");
    const bool pays = iterations_ > 1 && remote_buffers_;
    const bool on = asked == Offload::kOn || (asked == Offload::kAuto && pays);
    decisions.push_back(name + ": " + (on ? "on: " : "off: ") +
                        (asked != Offload::kAuto ? "asked for" : why()));
    return on;
  }

  std::vector<std::string> decisions;

 private:
  std::string why() const {
    if (!remote_buffers_) return "the system has no remote buffers";
    return "batch_serialization_iterations is " + std::to_string(iterations_);
  }

  int iterations_;
  bool remote_buffers_;
};

pop::Result<double> proportionIn(const std::vector<StageOptions>& options, int stage) {
  if (options.empty()) return 0.0;
  const StageOptions& own = options[static_cast<std::size_t>(stage)];
  const auto found = own.find(kProportion);
  if (found == own.end()) return 0.0;
  const std::string& text = found->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 0 && value <= 1) return value;
  return pop::invalidArgument("stage " + std::to_string(stage) + " has " + kProportion + " " +
                              pop::inQuotes(text) + ", expected a number from 0 to 1");
}

}  // namespace

pop::Result<Placement> placementOf(const PipelineOptions& pipeline, const MemoryPlanOptions& memory) {
  Placement placement;
  Decider decider(pipeline, memory);
  POP_ASSIGN_OR_RETURN(placement.activations,
                       decider.decide("offload_activations", pipeline.offload_activations));
  POP_ASSIGN_OR_RETURN(placement.accumulators,
                       decider.decide("offload_gradient_accumulation_buffers",
                                      pipeline.offload_gradient_accumulation_buffers));
  // Offloading weights is a wish for their sharding, too.
  const bool wished =
      pipeline.offload_weights == Offload::kOn && pipeline.replicated_weight_sharding == Offload::kAuto;
  POP_ASSIGN_OR_RETURN(placement.sharding,
                       decider.decide("replicated_weight_sharding",
                                      wished ? Offload::kOn : pipeline.replicated_weight_sharding, false));
  if (placement.sharding) {
    POP_ASSIGN_OR_RETURN(placement.weights, decider.decide("offload_weights", pipeline.offload_weights));
  } else {
    decider.decisions.emplace_back("offload_weights: off: weights are not sharded");
  }
  placement.decisions = std::move(decider.decisions);
  return placement;
}

pop::Result<double> availableMemoryProportionOf(const PipelineOptions& pipeline, int stage) {
  POP_ASSIGN_OR_RETURN(const double forward,
                       proportionIn(pipeline.forward_propagation_stages_poplar_options, stage));
  POP_ASSIGN_OR_RETURN(const double backward,
                       proportionIn(pipeline.backward_propagation_stages_poplar_options, stage));
  return std::max(forward, backward);
}

}  // namespace popdist::train
