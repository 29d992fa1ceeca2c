// SPDX-License-Identifier: Apache-2.0
// Measures Context::report on one core, where nobody listens and where somebody does.
//   bench_report
// One JSON line for each case: nanoseconds a call, the median over rounds and the best round.
#include <string>
#include <vector>

#include "bench/harness/clock.h"
#include "bench/harness/session.h"
#include "bench/harness/statistics.h"
#include "libpopdist/collectives/api/context_impl.h"
#include "tests/testing/thread_group.h"

namespace {

constexpr int kRounds = 21;
constexpr int kCalls = 200'000;

double nanosecondsOf(popdist::Context& context, const std::vector<std::string>& names) {
  const auto begin = pop::bench::Clock::now();
  for (int i = 0; i < kCalls; ++i) context.report(names[static_cast<std::size_t>(i) % names.size()], i);
  return pop::bench::secondsSince(begin) * 1e9 / kCalls;
}

void measure(popdist::Context& context, const char* listens, int num_names) {
  std::vector<std::string> names;
  for (int i = 0; i < num_names; ++i) names.push_back("samples_per_second_" + std::to_string(i));
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) rounds.push_back(nanosecondsOf(context, names));
  const pop::bench::Summary ns = pop::bench::summarize(rounds);
  pop::bench::JsonLine line("report");
  line.add("listens", listens).add("names", num_names).add("ns", ns.median).add("best_ns", ns.min);
  pop::bench::record(line);
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
