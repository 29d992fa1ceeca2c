// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "bench/collectives_speed/limits/limits.h"
#include "common/sys/relax.h"

namespace pop::bench::collectives {
namespace {

// Two cache lines, since prefetchers fetch them in pairs.
struct alignas(128) Flag {
  std::atomic<std::uint32_t> value{0};
};

// Half a round trip, on average of many.
template <typename Wait>
double oneWayMicroseconds(std::uint32_t round_trips, bool same_core, const Wait& wait) {
  using Clock = std::chrono::steady_clock;
  std::array<Flag, 2> flags;
  double seconds = 0;
  onCores(2, same_core, [&](std::size_t thread) {
    const auto begin = Clock::now();
    for (std::uint32_t i = 1; i <= round_trips; ++i) {
      if (thread == 0) flags[0].value.store(i, std::memory_order_release);
      while (flags[thread == 0 ? 1 : 0].value.load(std::memory_order_acquire) != i) wait();
      if (thread == 1) flags[1].value.store(i, std::memory_order_release);
    }
    if (thread == 0) seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  });
  return seconds / round_trips / 2 * 1e6;
}

}  // namespace

double flagHandoverUs() {
  constexpr std::uint32_t kRoundTrips = 20'000;
  return oneWayMicroseconds(kRoundTrips, false, [] { pop::sys::relax(); });
}

std::vector<Series> handoverTimes(int batches) {
  constexpr std::uint32_t kYielding = 3'000;
  Series flag{"flag", {}}, yield{"yield", {}};
  for (int batch = 0; batch < batches; ++batch) {
    if (coreCount() > 1) flag.values.push_back(flagHandoverUs());
    yield.values.push_back(oneWayMicroseconds(kYielding, true, [] { ::sched_yield(); }));
  }
  return {flag, yield};
}

}  // namespace pop::bench::collectives
