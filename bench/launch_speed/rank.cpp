// SPDX-License-Identifier: Apache-2.0
// The smallest program that depends on its launcher: prints "rank K", from the launcher's variable.
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

int main() {
  for (const char* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID", "RANK"}) {
    if (const char* rank = std::getenv(name)) return std::printf("rank %s\n", rank) < 0;
  }
  std::fputs("no launcher has set a rank\n", stderr);
  return 1;
}
