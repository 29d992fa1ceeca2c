// SPDX-License-Identifier: Apache-2.0
// Measures popdist::Span on one core: without POPDIST_TRACE, and with it, writing included.
//   bench_span && POPDIST_TRACE=DIRECTORY bench_span
// One JSON line: nanoseconds a span, the median over rounds and the best round.
#include <cstdlib>
#include <vector>

#include "bench/harness/clock.h"
#include "bench/harness/session.h"
#include "bench/harness/statistics.h"
#include "popdist/span.hpp"

namespace {

constexpr int kRounds = 21;
constexpr int kSpans = 100'000;

double nanosecondsOfSpans() {
  const auto begin = pop::bench::Clock::now();
  for (int i = 0; i < kSpans; ++i) const popdist::Span span("decode");
  return pop::bench::secondsSince(begin) * 1e9 / kSpans;
}

}  // namespace

int main() {
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) rounds.push_back(nanosecondsOfSpans());
  const pop::bench::Summary ns = pop::bench::summarize(rounds);
  pop::bench::JsonLine line("span");
  line.add("trace", std::getenv("POPDIST_TRACE") == nullptr ? "no" : "yes");
  pop::bench::record(line.add("ns", ns.median).add("best_ns", ns.min));
  return 0;
}
