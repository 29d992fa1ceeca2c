// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include "bench/collectives_speed/limits/limits.h"

namespace pop::bench::collectives {
namespace {

std::vector<std::size_t> usableCores() {
  cpu_set_t set;
  std::vector<std::size_t> cores;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return {0};
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

}  // namespace

std::size_t coreCount() {
  return usableCores().size();
}

void onCores(std::size_t threads, bool all_on_first, const std::function<void(std::size_t)>& body) {
  const std::vector<std::size_t> cores = usableCores();
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      cpu_set_t own;
      CPU_ZERO(&own);
      CPU_SET(all_on_first ? cores.front() : cores[i % cores.size()], &own);
      ::sched_setaffinity(0, sizeof(own), &own);
      body(i);
    });
  }
  for (std::thread& thread : running) thread.join();
}

}  // namespace pop::bench::collectives
