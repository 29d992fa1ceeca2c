// SPDX-License-Identifier: Apache-2.0
// An instance that enters fences with all others and prints the time of each: "fence I MICROSECONDS".
// usage: bench_launch_fence FENCES; at the end it prints "held", and runs until it is ended.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "libpopdist/collectives/context/agent_link.h"
#include "libpopdist/collectives/context/environment.h"

namespace {

using Clock = std::chrono::steady_clock;
using popdist::context::AgentLink;

constexpr std::chrono::seconds kTimeout{30};
constexpr int kWarmUps = 5;

int fail(const pop::Status& status) {
  std::fprintf(stderr, "bench_launch_fence: %s\n", status.message().c_str());
  return 1;
}

int run(int fences) {
  auto link = AgentLink::connect(popdist::context::environment(), kTimeout);
  if (!link.ok()) return fail(link.status());
  std::vector<double> took_us;
  for (int i = -kWarmUps; i < fences; ++i) {
    const Clock::time_point entered = Clock::now();
    const popdist::context::LinkError error = (*link)->fence("benchmark", kTimeout, {});
    if (!error.ok()) return fail(error.status);
    if (i >= 0) took_us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - entered).count());
  }
  for (std::size_t i = 0; i < took_us.size(); ++i) std::printf("fence %zu %.1f\n", i, took_us[i]);
  std::puts("held");
  std::fflush(stdout);
  while (true) ::pause();
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc > 1 ? std::atoi(argv[1]) : 0);
}
