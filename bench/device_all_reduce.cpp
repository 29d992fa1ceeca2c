// SPDX-License-Identifier: Apache-2.0
// Measures an all-reduce of the replicas of an emulated Pod on this host's cores. Its simulated time is
// independent of this.
//
// usage: poprun --num-instances 2 --num-replicas 4 device_all_reduce [bytes of a replica's tensor…]
//
// Instance 0 prints a JSON line for each size and kind of memory: the median and the minimum over kBatches
// batches of a call's time (the slowest instance's), in microseconds, and "ratio": the median divided by that
// of Communicator::allReduce of as many bytes of an instance in the same kind of memory, measured in turns
// with it. An instance of L replicas has L tensors to reduce here and one there: a ratio of L means no extra
// cost. float32. Sums of ones are checked before and after the batches. The timed values are infinity, which
// sums leave unchanged: zeros would be cheaper to store than data.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "bench/harness/clock.h"
#include "bench/harness/session.h"
#include "bench/harness/statistics.h"
#include "popdist/buffer.hpp"
#include "popdist/pod.hpp"
#include "popdist/popdist.hpp"

namespace {

using pop::bench::Clock;
using popdist::Context;

constexpr int kBatches = 31;
constexpr double kBatchUs = 5000;

// All instances leave it with the slowest one's.
double stepUs(const std::function<void()>& step, int steps) {
  popdist::Communicator& world = Context::fromEnvironment().world();
  world.barrier();
  const auto begin = Clock::now();
  for (int i = 0; i < steps; ++i) step();
  double us = pop::bench::secondsSince(begin) * 1e6 / steps;
  world.allReduce(&us, &us, 1, popdist::Type::kDouble, popdist::Operator::kMax);
  return us;
}

// One step on ones; checks that the first `summed` elements equal `sum`.
void check(const std::function<void()>& step, float* memory, std::size_t count, std::size_t summed, int sum) {
  std::fill_n(memory, count, 1.0F);
  step();
  if (std::all_of(memory, memory + summed, [&](float value) { return value == static_cast<float>(sum); }))
    return;
  std::fputs("wrong result of an all-reduce\n", stderr);
  std::exit(1);
}

void measure(popdist::Pod& pod, float* memory, const char* name, std::size_t count) {
  Context& context = Context::fromEnvironment();
  std::vector<float*> tensors;
  for (int replica = 0; replica < pod.numLocalReplicas(); ++replica)
    tensors.push_back(memory + static_cast<std::size_t>(replica) * count);
  const std::size_t all = tensors.size() * count;
  const std::function<void()> steps[] = {
      [&] { pod.allReduceSum(tensors, count); },
      [&] { context.world().allReduce(memory, memory, count, popdist::Type::kFloat); }};
  const auto checkBoth = [&] {
    check(steps[0], memory, all, all, pod.numReplicas());
    check(steps[1], memory, all, count, context.numInstances());
  };
  checkBoth();
  std::fill_n(memory, all, std::numeric_limits<float>::infinity());
  int repeats[] = {1, 1};
  std::vector<double> batches[2];
  for (int way = 0; way < 2; ++way) {
    stepUs(steps[way], 1);
    repeats[way] = std::max(1, static_cast<int>(kBatchUs / stepUs(steps[way], 1)));
  }
  for (int batch = 0; batch < kBatches; ++batch) {
    for (int way = 0; way < 2; ++way) batches[way].push_back(stepUs(steps[way], repeats[way]));
  }
  checkBoth();
  if (context.instanceIndex() != 0) return;
  const pop::bench::Summary us = pop::bench::summarize(batches[0]);
  pop::bench::JsonLine line("device_all_reduce");
  line.add("memory", name).add("instances", context.numInstances()).add("replicas", pod.numReplicas());
  line.add("tensor_bytes", count * sizeof(float)).add("median_us", us.median).add("min_us", us.min);
  pop::bench::record(line.add("ratio", us.median / pop::bench::summarize(batches[1]).median));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {8, 1024, 64 << 10, 1 << 20, 16 << 20};
  Context& context = Context::fromEnvironment();
  popdist::Pod pod(context);
  const std::size_t largest = *std::max_element(sizes.begin(), sizes.end());
  std::vector<float> own(largest / sizeof(float) * static_cast<std::size_t>(pod.numLocalReplicas()));
  const popdist::Buffer shared(context, own.size() * sizeof(float));
  for (const std::size_t bytes : sizes) {
    measure(pod, own.data(), "private", bytes / sizeof(float));
    measure(pod, shared.as<float>(), "shared", bytes / sizeof(float));
  }
  return 0;
}
