// SPDX-License-Identifier: Apache-2.0
// Contents of an outfeed: steps of all replicas, whole or still missing some. No locks: the outfeed has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "popdist/tensor.hpp"

namespace popdist::io {

/// `values` with dimensions before their own.
Spec withDimensions(const Spec& values, const Shape& dimensions);

class StepQueue {
 public:
  explicit StepQueue(int replicas) : replicas_(static_cast<std::size_t>(replicas)), enqueued_(replicas_) {}

  /// [(replicas), …] of `values`.
  Spec specOfStep(const Spec& values) const {
    return replicas_ > 1 ? withDimensions(values, {replicas_}) : values;
  }

  /// Steps that the replica has put in and that are not taken out yet.
  std::uint64_t held(int replica) const { return enqueued_[static_cast<std::size_t>(replica)] - taken_; }
  /// Steps that all replicas have put in.
  std::size_t whole() const;

  void put(ConstTensorRefs values, int replica);
  /// Puts the replica's latest values in the place of those before.
  void replace(ConstTensorRefs values, int replica);
  /// whole() > 0.
  Tensors take();

  /// A copy of the only step of replace(); nothing while a replica is missing.
  std::optional<Tensors> latest() const;

 private:
  /// The step of all replicas, zeros where one has not put in its part.
  Tensors& stepAt(std::size_t place, const Spec& values);
  static void copy(ConstTensorRefs values, Tensors& step, std::size_t replica);

  std::size_t replicas_;
  std::vector<std::uint64_t> enqueued_;  // one for each replica
  std::uint64_t taken_ = 0;
  std::deque<Tensors> steps_;  // oldest first
};

}  // namespace popdist::io
