// SPDX-License-Identifier: Apache-2.0
// Accumulation of the gradients of an update's micro-batches.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <variant>

#include "popdist/tensor.hpp"

namespace popdist::train {

/// The accumulator's rule for the gradients of an update's micro-batches. Each step is computed in float and
/// rounded to the accumulator's type.
enum class Reduction : std::uint8_t {
  kSum,          ///< sum + gradient
  kMean,         ///< sum + gradient · (1 / count): scaled before it is added
  kRunningMean,  ///< sum · (n / (n + 1)) + gradient · (1 / (n + 1)), n micro-batches before
};

/// "sum", "mean" or "running_mean", in any case. Throws popdist_error kInvalidArgument, which lists them.
Reduction reductionNamed(std::string_view text);

struct GradientAccumulation {
  int count = 1;  ///< micro-batches of an update, on each replica
  Reduction reduction = Reduction::kSum;
  /// Type of the accumulators: the parameters' (nothing), one for all, or a function of the parameter.
  std::variant<std::monostate, Type, std::function<Type(const TensorSpec& parameter)>> type{};
};

}  // namespace popdist::train
