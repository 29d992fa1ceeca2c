// SPDX-License-Identifier: Apache-2.0
#include "common/sys/cores.h"

#include <sched.h>

#include <cstddef>
#include <optional>

namespace pop::sys {
namespace {

std::optional<cpu_set_t> usableSet() {
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof(usable), &usable) != 0) return std::nullopt;
  return usable;
}

void useForNow(const cpu_set_t& some, const cpu_set_t& usable) {
  if (::sched_setaffinity(0, sizeof(some), &some) == 0) ::sched_setaffinity(0, sizeof(usable), &usable);
}

}  // namespace

int currentCore() {
  return ::sched_getcpu();
}

std::vector<int> usableCores() {
  std::vector<int> cores;
  const std::optional<cpu_set_t> usable = usableSet();
  for (int core = 0; usable && core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &*usable)) cores.push_back(core);
  }
  return cores;
}

void changeCore() {
  const int own = currentCore();
  const std::optional<cpu_set_t> usable = usableSet();
  if (!usable || own < 0 || own >= CPU_SETSIZE) return;
  cpu_set_t others = *usable;
  CPU_CLR(static_cast<std::size_t>(own), &others);
  if (CPU_COUNT(&others) > 0) useForNow(others, *usable);
}

void moveToCore(int core) {
  const std::optional<cpu_set_t> usable = usableSet();
  if (!usable || core < 0 || core >= CPU_SETSIZE) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(core), &one);
  useForNow(one, *usable);
}

}  // namespace pop::sys
