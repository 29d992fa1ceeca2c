// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/io/feeds/step_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace popdist::io {

Spec withDimensions(const Spec& values, const Shape& dimensions) {
  Spec spec = values;
  for (TensorSpec& tensor : spec)
    tensor.shape.insert(tensor.shape.begin(), dimensions.begin(), dimensions.end());
  return spec;
}

std::size_t StepQueue::whole() const {
  return *std::min_element(enqueued_.begin(), enqueued_.end()) - taken_;
}

StepQueue::Step& StepQueue::stepAt(std::size_t place, const Spec& values) {
  while (steps_.size() <= place) steps_.push_back({Tensors(specOfStep(values)), replicas_});
  return steps_[place];
}

void StepQueue::copy(ConstTensorRefs values, Step& step, std::size_t replica) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto from = values.bytes(i);
    if (!from.empty())
      std::memcpy(step.values.at(i).bytes().data() + replica * from.size(), from.data(), from.size());
  }
}

void StepQueue::put(ConstTensorRefs values, int replica) {
  Step& step = stepAt(held(replica), values.spec());
  copy(values, step, static_cast<std::size_t>(replica));
  --step.missing;
  ++enqueued_[static_cast<std::size_t>(replica)];
}

void StepQueue::replace(ConstTensorRefs values, int replica) {
  Step& step = stepAt(0, values.spec());
  copy(values, step, static_cast<std::size_t>(replica));
  if (enqueued_[static_cast<std::size_t>(replica)]++ == 0) --step.missing;
}

Tensors StepQueue::take() {
  Tensors values = std::move(steps_.front().values);
  steps_.pop_front();
  ++taken_;
  return values;
}

std::optional<Tensors> StepQueue::latest() const {
  if (steps_.empty() || steps_.front().missing > 0) return std::nullopt;
  return steps_.front().values.clone();
}

}  // namespace popdist::io
