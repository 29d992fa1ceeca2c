// SPDX-License-Identifier: Apache-2.0
// Gradients are summed on the Pod, in the order of GCL's ring: the same for every split over instances.
#include <utility>
#include <vector>

#include "popdist/strategy.hpp"

namespace popdist::train {
namespace {

class PodReduction final : public GradientReduction {
 public:
  PodReduction(Pod& pod, std::span<FlatTensors> gradients) : pod_(pod) {
    for (FlatTensors& each : gradients) {
      const std::vector<FlatTensors::Run> runs = each.runs();
      runs_.resize(runs.size());
      for (std::size_t i = 0; i < runs.size(); ++i) {
        runs_[i].data.push_back(runs[i].data);
        runs_[i].elements = runs[i].elements;
        runs_[i].type = runs[i].type;
      }
    }
  }

  void ready(int, std::size_t) override {}  // the Pod sums all at once
  void wait() override {
    for (const Run& run : runs_) pod_.allReduceSum(run.data, run.elements, run.type);
  }

 private:
  struct Run {
    std::vector<void*> data;  // of each replica
    std::size_t elements = 0;
    Type type = Type::kFloat;
  };
  Pod& pod_;
  std::vector<Run> runs_;
};

}  // namespace

std::unique_ptr<GradientReduction> PopDistStrategy::reductionOf(std::span<FlatTensors> gradients) {
  return std::make_unique<PodReduction>(pod_, gradients);
}

}  // namespace popdist::train
