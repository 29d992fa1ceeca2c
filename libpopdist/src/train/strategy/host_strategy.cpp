// SPDX-License-Identifier: Apache-2.0
// Gradients are summed in the instance, parameter by parameter as its replicas have computed them, and then
// between instances, in buckets that fill from the last parameter to the first, as backward passes make them.
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/src/async/everybody.h"
#include "libpopdist/src/reduce/fold.h"
#include "libpopdist/src/tensor/error_edge.h"
#include "popdist/strategy.hpp"

namespace popdist::train {
namespace {

class HostReduction final : public GradientReduction {
 public:
  HostReduction(Context& context, AsyncCommunicator& members, const std::string& name,
                std::span<FlatTensors> gradients, const FusionOptions& fusion)
      : spec_(gradients.front().spec()),
        missing_(spec_.size()),
        instances_(context, members, name, fused(gradients.front()), fusion) {
    for (FlatTensors& each : gradients) data_.push_back(each.refs().data());
    begin();
  }

  void ready(int, std::size_t parameter) override {
    if (--missing_[parameter] > 0) return;
    if (data_.size() > 1) sumReplicas(parameter);
    instances_.ready(spec_.size() - 1 - parameter);
  }

  void wait() override {
    instances_.wait();
    begin();
  }

 private:
  static std::vector<FusedTensor> fused(FlatTensors& gradients) {
    std::vector<FusedTensor> tensors;
    for (std::size_t i = gradients.spec().size(); i-- > 0;) {
      const TensorSpec& spec = gradients.spec()[i];
      tensors.push_back({spec.name, gradients.refs().data()[i], spec.elements(), spec.type});
    }
    return tensors;
  }

  void begin() {
    for (auto& missing : missing_) missing = static_cast<int>(data_.size());
  }

  void sumReplicas(std::size_t parameter) {
    std::vector<const void*> from;
    for (std::byte* const* const replica : data_) from.push_back(replica[parameter]);
    void* const to = data_.front()[parameter];
    reduce::fold({.type = spec_[parameter].type}, std::span(&to, 1), from, spec_[parameter].elements());
  }

  Spec spec_;
  std::vector<std::byte* const*> data_;  // of each replica
  std::vector<std::atomic<int>> missing_;
  FusedAllReduce instances_;
};

}  // namespace

HostStrategy::HostStrategy(Context& context, std::string_view name, const FusionOptions& fusion)
    : Strategy(context), name_(name), fusion_(fusion), members_(async::everybody(context)) {}

std::unique_ptr<GradientReduction> HostStrategy::reductionOf(std::span<FlatTensors> gradients) {
  return std::make_unique<HostReduction>(context(), members_, "gradients " + std::to_string(++reductions_),
                                         gradients, fusion_);
}

SingleStrategy::SingleStrategy(Context& context) : HostStrategy(context, "single", {}) {
  if (context.numInstances() > 1)
    throwIfError({pop::Code::kFailedPrecondition,
                  "the job has " + std::to_string(context.numInstances()) +
                      " instances, which this strategy would leave to themselves: take another strategy"},
                 "SingleStrategy");
}

}  // namespace popdist::train
