// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/feeds/step_queue.h"

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

Tensors& StepQueue::stepAt(std::size_t place, const Spec& values) {
  while (steps_.size() <= place) steps_.emplace_back(specOfStep(values));
  return steps_[place];
}

void StepQueue::copy(ConstTensorRefs values, Tensors& step, std::size_t replica) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto from = values.bytes(i);
    if (!from.empty())
      std::memcpy(step.at(i).bytes().data() + replica * from.size(), from.data(), from.size());
  }
}

void StepQueue::put(ConstTensorRefs values, int replica) {
  copy(values, stepAt(held(replica), values.spec()), static_cast<std::size_t>(replica));
  ++enqueued_[static_cast<std::size_t>(replica)];
}

void StepQueue::replace(ConstTensorRefs values, int replica) {
  copy(values, stepAt(0, values.spec()), static_cast<std::size_t>(replica));
  ++enqueued_[static_cast<std::size_t>(replica)];
}

Tensors StepQueue::take() {
  Tensors values = std::move(steps_.front());
  steps_.pop_front();
  ++taken_;
  return values;
}

std::optional<Tensors> StepQueue::latest() const {
  if (whole() == 0) return std::nullopt;
  return steps_.front().clone();
}

}  // namespace popdist::io
