// SPDX-License-Identifier: Apache-2.0
// Measures an all-reduce over the connections of a job's instances, float32 sums, in place:
//   POPDIST_TRANSPORT=tcp poprun -n 2 tcp_all_reduce [BYTES ...]
// Instance 0 prints one JSON line for each size: the median and the minimum, in microseconds per operation,
// over `batches` batches; a batch's time is the slowest instance's. Bus bandwidth: bytes * 2(n-1)/n / median.
// A sum of ones is checked before and after them. The timed values are infinity, which sums leave unchanged:
// zeros would be cheaper to store than data.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "bench/harness/clock.h"
#include "bench/harness/session.h"
#include "bench/harness/statistics.h"
#include "popdist/popdist.hpp"

namespace {

constexpr double kBatchSeconds = 0.03;
constexpr int kBatches = 11;

double secondsFor(popdist::Communicator& world, std::vector<float>& data, int turns) {
  world.synchronize();
  const auto begin = pop::bench::Clock::now();
  for (int turn = 0; turn < turns; ++turn) world.allReduceSum(std::span(data));
  const double seconds = pop::bench::secondsSince(begin);
  std::vector<double> all(static_cast<std::size_t>(world.size()));
  world.allGather(&seconds, all.data(), 1, popdist::Type::kDouble);
  return *std::max_element(all.begin(), all.end());
}

void check(popdist::Communicator& world, std::vector<float>& data) {
  std::fill(data.begin(), data.end(), 1.0F);
  world.allReduceSum(std::span(data));
  const auto ranks = static_cast<float>(world.size());
  if (std::all_of(data.begin(), data.end(), [&](float value) { return value == ranks; })) return;
  std::fputs("wrong result of all-reduce\n", stderr);
  std::exit(1);
}

void measure(popdist::Communicator& world, std::size_t bytes) {
  std::vector<float> data(std::max<std::size_t>(bytes / sizeof(float), 1));
  check(world, data);
  std::fill(data.begin(), data.end(), std::numeric_limits<float>::infinity());
  secondsFor(world, data, 2);
  const double once = secondsFor(world, data, 5) / 5;
  const int turns = std::clamp(static_cast<int>(kBatchSeconds / once), 1, 10'000);
  std::vector<double> micros;
  for (int batch = 0; batch < kBatches; ++batch)
    micros.push_back(secondsFor(world, data, turns) / turns * 1e6);
  check(world, data);
  if (world.rank() != 0) return;
  const pop::bench::Summary us = pop::bench::summarize(micros);
  const double n = world.size();
  pop::bench::JsonLine line("all_reduce");
  line.add("ranks", world.size()).add("bytes", bytes).add("median_us", us.median).add("least_us", us.min);
  line.add("bus_gb_per_s", static_cast<double>(bytes) * 2 * (n - 1) / n / us.median / 1e3);
  pop::bench::record(line);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes{8, 1 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 16 << 20, 128 << 20};
  if (argc > 1) sizes.clear();
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  popdist::Communicator& world = popdist::Context::fromEnvironment().world();
  for (const std::size_t bytes : sizes) measure(world, bytes);
  return 0;
}
