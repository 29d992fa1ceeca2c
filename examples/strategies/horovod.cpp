// SPDX-License-Identifier: Apache-2.0
// IPU-Servers, started as Horovod programs are: horovodrun is one of the names of poprun.
//
//   horovodrun -np 2 -H localhost:2 horovod
#include "fit.h"

int main() try {
  const auto context = popdist::train::contextFor();
  popdist::train::IpuHorovodStrategy strategy(*context);
  fit(strategy);
} catch (const std::exception& error) {
  std::fprintf(stderr, "horovod: %s\n", error.what());
  return 1;
}
