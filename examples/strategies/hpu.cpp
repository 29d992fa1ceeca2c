// SPDX-License-Identifier: Apache-2.0
// HPUs: one device in each process.
//
//   poprun --num-instances 2 hpu
#include "fit.h"

int main() try {
  const auto context = popdist::train::contextFor();
  popdist::train::HpuStrategy strategy(*context);
  fit(strategy);
} catch (const std::exception& error) {
  std::fprintf(stderr, "hpu: %s\n", error.what());
  return 1;
}
