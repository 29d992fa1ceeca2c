// SPDX-License-Identifier: Apache-2.0
// Gradients are summed on the Pod, in the order of GCL's ring: the same for every split over instances.
#include <algorithm>
#include <vector>

#include "libpopdist/internal/own_calls.h"
#include "libpopdist/train/agreement/agreement.h"
#include "popdist/strategy.hpp"

namespace popdist::train {
namespace {

/// The elements of a run that lie in `part`, a part of all bytes from `begin` on.
Pod::Part partOf(const FlatTensors::Run& run, const std::byte* begin, const StateSharing::Part& part) {
  const auto first = static_cast<std::size_t>(run.data - begin);
  const std::size_t element = sizeOf(run.type);
  const auto clamped = [&](std::size_t byte) {
    return std::clamp(byte, first, first + run.elements * element) - first;
  };
  const std::size_t from = clamped(part.begin) / element;
  return {from, clamped(part.end) / element - from};
}

class PodReduction final : public GradientReduction {
 public:
  /// Without `sharing` every replica gets all sums.
  PodReduction(Pod& pod, std::span<FlatTensors> gradients, const StateSharing* sharing)
      : pod_(pod), replicas_per_group_(sharing == nullptr ? 1 : sharing->replicas) {
    for (FlatTensors& each : gradients) {
      const std::vector<FlatTensors::Run> runs = each.runs();
      runs_.resize(runs.size());
      for (std::size_t i = 0; i < runs.size(); ++i) {
        runs_[i].data.push_back(runs[i].data);
        runs_[i].elements = runs[i].elements;
        runs_[i].type = runs[i].type;
        if (sharing == nullptr || &each != &gradients.front()) continue;
        for (const StateSharing::Part& part : sharing->parts)
          runs_[i].parts.push_back(partOf(runs[i], each.bytes().data(), part));
      }
    }
  }

  void ready(int, std::size_t) override {}  // the Pod sums all at once
  void wait() override {
    for (const Run& run : runs_) {
      if (run.parts.empty())
        pod_.allReduceSum(run.data, run.elements, run.type);
      else
        pod_.reduceScatterSum(run.data, run.elements, run.type, run.parts, replicas_per_group_);
    }
  }

 private:
  struct Run {
    std::vector<void*> data;  // each replica's
    std::size_t elements = 0;
    Type type = Type::kFloat;
    std::vector<Pod::Part> parts;  // each instance's
  };
  Pod& pod_;
  int replicas_per_group_;
  std::vector<Run> runs_;
};

}  // namespace

PopDistStrategy::PopDistStrategy(Context& context)
    : Strategy(context, "popdist", ""),
      pod_(context),
      told_(internal::alsoAborted(context,
                                  [this](const pop::Status& why, int) { pod_.abort(why.message()); })) {}

std::unique_ptr<GradientReduction> PopDistStrategy::reductionOf(std::span<FlatTensors> gradients) {
  return std::make_unique<PodReduction>(pod_, gradients, nullptr);
}

std::unique_ptr<GradientReduction> PopDistStrategy::reductionOfParts(std::span<FlatTensors> gradients,
                                                                     const StateSharing& sharing) {
  return std::make_unique<PodReduction>(pod_, gradients, &sharing);
}

}  // namespace popdist::train
