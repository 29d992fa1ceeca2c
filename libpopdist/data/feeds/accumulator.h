// SPDX-License-Identifier: Apache-2.0
// Sums of tensors over steps, on the device's side of an outfeed.
#pragma once

#include <optional>

#include "common/base/status.h"
#include "popdist/tensor.hpp"

namespace popdist::io {

/// The spec of sums of `values`: of `type`, or their own. kInvalidArgument: booleans, 8 bits without `type`,
/// or another type than float and double.
pop::Result<Spec> specOfSums(const Spec& values, std::optional<Type> type);

/// sums += values, in the sums' type.
void addTo(TensorRefs sums, ConstTensorRefs values);

}  // namespace popdist::io
