// SPDX-License-Identifier: Apache-2.0
// What the tests of all algorithms share: group sizes, vector lengths, recognisable elements, counts of work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

using Element = std::int64_t;

/// What output and scratch hold before a collective; appears in no right result.
inline constexpr Element kGarbage = -987'654'321'987;

inline std::vector<int> groupSizes() {
  std::vector<int> sizes;
  for (int ranks = 1; ranks <= 17; ++ranks) sizes.push_back(ranks);
  sizes.insert(sizes.end(), {33, 64});
  return sizes;
}

/// Empty, shorter than the group, around its size, and long.
inline std::set<std::size_t> countsFor(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  if (ranks > 17) return {1, n - 1, n + 1};
  return {0, 1, 2, 3, n - 1, n, n + 1, 1000, 1003};
}

inline Element sampleOf(int rank, std::size_t index) {
  return Element{rank} * 1'000'003 + static_cast<Element>(index);
}

inline std::vector<Element> samplesOf(int rank, std::size_t count) {
  std::vector<Element> samples(count);
  for (std::size_t i = 0; i < count; ++i) samples[i] = sampleOf(rank, i);
  return samples;
}

/// Element `index` summed over ranks 0 … ranks - 1.
inline Element sumOfSamples(int ranks, std::size_t index) {
  return ranks * sampleOf(0, index) + Element{ranks} * (ranks - 1) / 2 * (sampleOf(1, 0) - sampleOf(0, 0));
}

inline std::vector<Element> garbage(std::size_t count) {
  return std::vector<Element>(count, kGarbage);
}

inline std::size_t elementsSent(const Plan& plan) {
  std::size_t sent = 0;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::kSend) sent += step.count;
  }
  return sent;
}

inline std::size_t roundsOf(const Plan& plan) {
  std::set<std::uint32_t> rounds;
  for (const Step& step : plan.steps) rounds.insert(step.round);
  return rounds.size();
}

inline std::string groupName(int ranks, std::size_t count) {
  return std::to_string(ranks) + " ranks, " + std::to_string(count) + " elements";
}

}  // namespace popdist::plan
