// SPDX-License-Identifier: Apache-2.0
// Replicas of a Pod: gradients are summed on the device.
//
//   poprun --num-instances 2 --num-replicas 4 popdist
#include "fit.h"

int main() try {
  const auto context = popdist::train::contextFor();
  popdist::train::PopDistStrategy strategy(*context);
  fit(strategy);
} catch (const std::exception& error) {
  std::fprintf(stderr, "popdist: %s\n", error.what());
  return 1;
}
