// SPDX-License-Identifier: Apache-2.0
#include "common/sys/cores.h"

#include <sched.h>

#include <cstddef>

namespace pop::sys {

int currentCore() {
  return ::sched_getcpu();
}

void changeCore() {
  const int own = currentCore();
  cpu_set_t allowed;
  if (own < 0 || own >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<std::size_t>(own), &others);
  if (CPU_COUNT(&others) == 0 || ::sched_setaffinity(0, sizeof(others), &others) != 0) return;
  ::sched_setaffinity(0, sizeof(allowed), &allowed);
}

}  // namespace pop::sys
