// SPDX-License-Identifier: Apache-2.0
// Measures popdist::Span on one core: without POPDIST_TRACE, and with it, writing included.
//   bench_span && POPDIST_TRACE=DIRECTORY bench_span
// One JSON line: nanoseconds a span, the median over rounds and the best round.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/harness/json_line.h"
#include "popdist/span.hpp"

namespace {

constexpr int kRounds = 21;
constexpr int kSpans = 100'000;

double nanosecondsOfSpans() {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kSpans; ++i) const popdist::Span span("decode");
  const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - begin;
  return passed.count() / kSpans;
}

}  // namespace

int main() {
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) rounds.push_back(nanosecondsOfSpans());
  std::sort(rounds.begin(), rounds.end());
  std::puts(pop::bench::JsonLine("span")
                .add("trace", std::getenv("POPDIST_TRACE") == nullptr ? "no" : "yes")
                .add("ns", rounds[kRounds / 2])
                .add("best_ns", rounds.front())
                .text()
                .c_str());
  return 0;
}
