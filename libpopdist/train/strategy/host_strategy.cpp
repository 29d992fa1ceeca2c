// SPDX-License-Identifier: Apache-2.0
// Gradients are summed in the instance, parameter by parameter as its replicas have computed them, and then
// between instances, in buckets that fill from the last parameter to the first, as backward passes make them.
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/internal/everybody.h"
#include "libpopdist/internal/fold.h"
#include "libpopdist/internal/own_calls.h"
#include "libpopdist/train/agreement/agreement.h"
#include "libpopdist/train/strategy/device_clock.h"
#include "popdist/strategy.hpp"

namespace popdist::train {
namespace {

std::string textOf(const FusionOptions& fusion, bool variables_on_host) {
  return "buckets of " + std::to_string(fusion.bucket_bytes) + " bytes, " + nameOf(fusion.op) +
         ", variables on the " + (variables_on_host ? "host" : "devices");
}

std::size_t bytesOf(const Spec& tensors) {
  std::size_t bytes = 0;
  for (const TensorSpec& tensor : tensors) bytes += tensor.bytes();
  return bytes;
}

class HostReduction final : public GradientReduction {
 public:
  HostReduction(Context& context, AsyncCommunicator& members, const std::string& name,
                std::span<FlatTensors> gradients, const FusionOptions& fusion, std::function<void()> reduced)
      : spec_(gradients.front().spec()),
        reduced_(std::move(reduced)),
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

  bool onReduced(std::function<void(std::size_t)> reduced) override {
    instances_.onReduced(
        [this, reduced = std::move(reduced)](std::size_t tensor) { reduced(spec_.size() - 1 - tensor); });
    return true;
  }

  void wait() override {
    instances_.wait();
    reduced_();
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
  std::function<void()> reduced_;        // all of an update
  std::vector<std::byte* const*> data_;  // each replica's
  std::vector<std::atomic<int>> missing_;
  FusedAllReduce instances_;
};

}  // namespace

HostStrategy::HostStrategy(Context& context, std::string_view name, const FusionOptions& fusion,
                           bool variables_on_host, Devices devices)
    : Strategy(context, name, textOf(fusion, variables_on_host)),
      name_(name),
      fusion_(fusion),
      variables_on_host_(variables_on_host),
      clock_(devices == Devices::kIpus ? std::make_unique<DeviceClock>(context) : nullptr),
      members_(async::everybody(context)),
      told_(internal::alsoAborted(
          context, [this](const pop::Status& why, int instance) { async::abort(members_, why, instance); })) {
}
HostStrategy::~HostStrategy() = default;

// Gradients leave the devices for the sums between instances, and for updates on the host.
std::unique_ptr<GradientReduction> HostStrategy::reductionOf(std::span<FlatTensors> gradients) {
  const auto count = [this, bytes = bytesOf(gradients.front().spec())] {
    if (!clock_) return;
    const bool stay = numWorkers() == 1 && !variables_on_host_;
    if (stay) return clock_->sumOnLinks(bytes);
    clock_->sendSums(bytes);
    if (!variables_on_host_) clock_->receive(bytes);
  };
  return std::make_unique<HostReduction>(context(), members_, "gradients " + std::to_string(++reductions_),
                                         gradients, fusion_, count);
}

void HostStrategy::load(const FlatTensors& host, std::span<FlatTensors> replicas) {
  Strategy::load(host, replicas);
  if (clock_) clock_->receive(bytesOf(host.spec()));
}

void HostStrategy::advanceCompute(double flops) {
  if (clock_) clock_->compute(flops);
}

void HostStrategy::advance(SimulatedTime time) {
  if (clock_) clock_->advance(time);
}

const DeviceTimes& HostStrategy::deviceTimes() const {
  static constexpr DeviceTimes kNone;
  return clock_ ? clock_->times() : kNone;
}

SingleStrategy::SingleStrategy(Context& context) : HostStrategy(context, "single", {}) {
  if (context.numInstances() > 1)
    throwIfError({pop::Code::kFailedPrecondition,
                  "the job has " + std::to_string(context.numInstances()) +
                      " instances, which this strategy would leave to themselves: take another strategy"},
                 "SingleStrategy");
}

}  // namespace popdist::train
