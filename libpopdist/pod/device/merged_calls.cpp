// SPDX-License-Identifier: Apache-2.0
// All-reduces of many tensors: those that follow each other are copied together and summed at once.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <vector>

#include "libpopdist/pod/device/pod_impl.h"
#include "popdist/pod.hpp"

namespace popdist {
namespace {

using PodTensors = std::span<const Pod::Tensor>;

// The first ones that are merged: at least one.
std::size_t mergedOf(PodTensors tensors, std::size_t most_elements) {
  std::size_t merged = 0;
  for (std::size_t left = most_elements; merged < tensors.size() && tensors[merged].count <= left; ++merged)
    left -= tensors[merged].count;
  return std::max<std::size_t>(merged, 1);
}

// Tensors of each replica one after the other.
class Together {
 public:
  Together(PodTensors tensors, std::size_t element_bytes) : tensors_(tensors), element_bytes_(element_bytes) {
    for (const Pod::Tensor& each : tensors) count_ += each.count;
    memory_.resize(replicas() * count_ * element_bytes_);
    for (std::size_t local = 0; local < replicas(); ++local)
      vectors_.push_back(memory_.data() + local * count_ * element_bytes_);
    copy([](std::byte* together, void* apart, std::size_t bytes) { std::memcpy(together, apart, bytes); });
  }

  std::span<void* const> vectors() const { return vectors_; }
  std::size_t count() const { return count_; }
  void takeApart() {
    copy([](std::byte* together, void* apart, std::size_t bytes) { std::memcpy(apart, together, bytes); });
  }

 private:
  std::size_t replicas() const { return tensors_.front().local.size(); }

  template <typename Copy>
  void copy(const Copy& one) {
    for (std::size_t local = 0; local < replicas(); ++local) {
      auto* at = static_cast<std::byte*>(vectors_[local]);
      for (const Pod::Tensor& each : tensors_) {
        const std::size_t bytes = each.count * element_bytes_;
        if (bytes > 0) one(at, each.local[local], bytes);
        at += bytes;
      }
    }
  }

  const PodTensors tensors_;
  const std::size_t element_bytes_;
  std::size_t count_ = 0;
  std::vector<std::byte> memory_;
  std::vector<void*> vectors_;
};

}  // namespace

void Pod::allReduceMany(PodTensors tensors, Type type, std::size_t merged_bytes, Operator op,
                        const PodCallOptions& options) {
  const auto callOf = [&](std::span<void* const> local, std::size_t count) {
    const std::span<const void* const> in(const_cast<const void* const*>(local.data()), local.size());
    return pod::PodCall{pod::CollectiveKind::kAllReduce, in, local, count, type, op, options};
  };
  for (const Tensor& each : tensors) impl_->refuseIfWrong(callOf(each.local, each.count));
  impl_->refuseIfWrong(pod::checkApart(tensors, type, impl_->ranksOf(options)));
  const std::size_t most_elements = merged_bytes / std::max<std::size_t>(sizeOf(type), 1);
  while (!tensors.empty()) {
    const std::size_t merged = mergedOf(tensors, most_elements);
    if (merged == 1) {
      impl_->collective(callOf(tensors.front().local, tensors.front().count));
    } else {
      std::optional<Together> together;
      try {
        together.emplace(tensors.first(merged), sizeOf(type));
      } catch (const std::bad_alloc&) {
        impl_->outOfMemory(plan::kPodAllReduce);
      } catch (const std::length_error&) {
        impl_->outOfMemory(plan::kPodAllReduce);
      }
      impl_->collective(callOf(together->vectors(), together->count()));
      together->takeApart();
    }
    tensors = tensors.subspan(merged);
  }
}

}  // namespace popdist
