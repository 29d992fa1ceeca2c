// SPDX-License-Identifier: Apache-2.0
// One system without other instances.
//
//   poprun --num-replicas 4 single
#include "fit.h"

int main() try {
  const auto context = popdist::train::contextFor();
  popdist::train::SingleStrategy strategy(*context);
  fit(strategy);
} catch (const std::exception& error) {
  std::fprintf(stderr, "single: %s\n", error.what());
  return 1;
}
