// SPDX-License-Identifier: Apache-2.0
// Measures Context::report on one core, where nobody listens and where somebody does.
//   bench_report
// One JSON line for each case: nanoseconds a call, the median over rounds and the best round.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/harness/json_line.h"
#include "libpopdist/collectives/api/context_impl.h"
#include "tests/testing/thread_group.h"

namespace {

constexpr int kRounds = 21;
constexpr int kCalls = 200'000;

double nanosecondsOf(popdist::Context& context, const std::vector<std::string>& names) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) context.report(names[static_cast<std::size_t>(i) % names.size()], i);
  const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - begin;
  return passed.count() / kCalls;
}

void measure(popdist::Context& context, const char* listens, int num_names) {
  std::vector<std::string> names;
  for (int i = 0; i < num_names; ++i) names.push_back("samples_per_second_" + std::to_string(i));
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) rounds.push_back(nanosecondsOf(context, names));
  std::sort(rounds.begin(), rounds.end());
  std::puts(pop::bench::JsonLine("report")
                .add("listens", listens)
                .add("names", num_names)
                .add("ns", rounds[kRounds / 2])
                .add("best_ns", rounds.front())
                .text()
                .c_str());
}

}  // namespace

int main() {
  popdist::testing::ThreadGroup group(1);
  group.run([](popdist::Context& context) {
    for (const int names : {1, 16}) measure(context, "nobody", names);
    context.impl().state.link->segment().header()->reports_wanted.store(1);
    for (const int names : {1, 16}) measure(context, "somebody", names);
  });
  return 0;
}
