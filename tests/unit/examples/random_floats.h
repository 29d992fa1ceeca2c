// SPDX-License-Identifier: Apache-2.0
// Numbers for the examples' kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/random.h"

/// In [-1, 1], reproducible.
inline std::vector<float> randomFloats(std::size_t count, std::uint64_t seed) {
  pop::SplitMix64 random(seed);
  std::vector<float> floats(count);
  for (float& value : floats) value = static_cast<float>(random.next() % 20'001) / 10'000.0F - 1.0F;
  return floats;
}
