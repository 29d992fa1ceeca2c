// SPDX-License-Identifier: Apache-2.0
// IPU-Servers that find each other by TF_CONFIG. In one terminal, and with "index":1 in another:
//
//   export TF_CONFIG='{"cluster":{"worker":["localhost:3737","localhost:3738"]},
//                      "task":{"type":"worker","index":0}}'
//   multiworker
#include "fit.h"

int main() try {
  const auto context = popdist::train::contextFor();
  popdist::train::IpuMultiWorkerStrategy strategy(*context);
  fit(strategy);
} catch (const std::exception& error) {
  std::fprintf(stderr, "multiworker: %s\n", error.what());
  return 1;
}
