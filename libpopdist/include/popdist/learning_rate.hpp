// SPDX-License-Identifier: Apache-2.0
// Learning rates: functions of the number of weight updates, never of epochs or micro-batches, whose length
// depends on the number of replicas.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "popdist/cxx20.hpp"

namespace popdist::train {

/// The rate of each update; updates that were skipped (loss scaling) do not count.
class LearningRate {
 public:
  /// Throws popdist_error kInvalidArgument for a rate that is negative, infinite or no number, or that no
  /// float can hold, as the functions below do.
  LearningRate(double rate);
  /// If the function returns such a rate, the update that would use it refuses it. Throws popdist_error
  /// kInvalidArgument for an empty function.
  explicit LearningRate(std::function<double(std::uint64_t updates_done)> at);

  double at(std::uint64_t updates_done) const { return at_(updates_done); }

 private:
  std::function<double(std::uint64_t)> at_;
};

/// From `first`, in equal steps, to 0 after `updates` updates; 0 from then on. Throws popdist_error
/// kInvalidArgument for 0 updates, as the others do.
LearningRate linearToZero(double first, std::uint64_t updates);
/// Half a cosine from `first` to `last`, which it keeps.
LearningRate cosine(double first, std::uint64_t updates, double last = 0);
/// Rises in equal steps to what `then` begins with, reached with update number `updates`; then goes on as
/// `then` from its beginning.
LearningRate warmup(std::uint64_t updates, LearningRate then);
/// `first`, and from each number of updates done on the rate beside it. Numbers must grow.
LearningRate piecewise(double first, std::vector<std::pair<std::uint64_t, double>> later);

}  // namespace popdist::train
