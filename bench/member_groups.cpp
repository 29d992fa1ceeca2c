// SPDX-License-Identifier: Apache-2.0
// Measures how long it takes to make a communicator of two instances, and to drop it: by all instances of the
// job, in a fence, and by the two alone.
//   poprun --num-instances 64 bench_member_groups
// One JSON line: microseconds of a group, medians of instance 0.
#include <cstdio>
#include <functional>
#include <vector>

#include "bench/harness/clock.h"
#include "bench/harness/session.h"
#include "bench/harness/statistics.h"
#include "popdist/context.hpp"

namespace {

constexpr int kWarmUps = 10;
constexpr int kGroups = 200;

pop::bench::Summary microsecondsOf(const std::function<void()>& make) {
  std::vector<double> took;
  for (int i = -kWarmUps; i < kGroups; ++i) {
    const auto begin = pop::bench::Clock::now();
    make();
    if (i >= 0) took.push_back(pop::bench::secondsSince(begin) * 1e6);
  }
  return pop::bench::summarize(took);
}

}  // namespace

int main() {
  popdist::Context& context = popdist::Context::fromEnvironment();
  const pop::bench::Summary by_all = microsecondsOf([&] { context.createCommunicator({0, 1}); });
  context.fence();
  pop::bench::Summary by_members{};
  if (context.instanceIndex() < 2)
    by_members = microsecondsOf([&] { context.createCommunicator({0, 1}, "pair"); });
  context.fence();
  if (context.instanceIndex() != 0) return 0;
  pop::bench::JsonLine line("member_groups");
  line.add("instances", context.numInstances());
  pop::bench::record(line.add("by_all_us", by_all.median).add("by_members_us", by_members.median));
  return 0;
}
