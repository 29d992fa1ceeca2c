// SPDX-License-Identifier: Apache-2.0
// Range of a learning rate: kernels multiply by it as a float.
#pragma once

#include <limits>

namespace popdist::train {

inline constexpr const char* kRateRange = "a number from 0 to 3.4e38";

inline bool isRate(double rate) {
  return rate >= 0 && rate <= static_cast<double>(std::numeric_limits<float>::max());
}

}  // namespace popdist::train
