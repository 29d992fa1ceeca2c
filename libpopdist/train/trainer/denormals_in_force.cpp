// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/trainer/denormals_in_force.h"

#include <limits>

namespace popdist::train {

bool denormalsAreFlushed() {
  const volatile float least = std::numeric_limits<float>::min();
  return least / 2 == 0;
}

Fact denormalsInForce() {
  return {.name = "denormals",
          .text = denormalsAreFlushed() ? "flushed" : "kept",
          .advice = "make a popdist::FlushDenormals on all instances, or on none"};
}

}  // namespace popdist::train
