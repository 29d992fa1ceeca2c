// SPDX-License-Identifier: Apache-2.0
// A few calls of a grid in which all pairs of values meet, instead of all calls.
#include <array>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include "common/base/random.h"
#include "tests/contract/grids.h"

namespace popdist::contract {
namespace {

using Values = std::array<std::uint64_t, 8>;

Values valuesOf(const GridCall& call, std::size_t way) {
  const Case& tested = call.tested;
  return {static_cast<std::uint64_t>(tested.operation), static_cast<std::uint64_t>(tested.type),
          static_cast<std::uint64_t>(tested.op),        tested.count,
          static_cast<std::uint64_t>(tested.root),      static_cast<std::uint64_t>(tested.in_place),
          static_cast<std::uint64_t>(call.memory),      way};
}

// True if two of them have not met before.
bool bringsPair(const Values& values, std::unordered_set<std::uint64_t>& met) {
  bool brings = false;
  for (std::size_t one = 0; one < values.size(); ++one) {
    for (std::size_t other = one + 1; other < values.size(); ++other) {
      const std::uint64_t positions = one * values.size() + other;
      brings |= met.insert((positions << 56U) | (values[one] << 28U) | values[other]).second;
    }
  }
  return brings;
}

}  // namespace

Grid pairsOf(const Grid& grid, std::size_t way, std::size_t ways) {
  // In any order, the same in every run: in that of the grid the first way would make most of the calls.
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t call = 0; call < grid.calls.size(); ++call) {
    for (std::size_t each = 0; each < ways; ++each) order.emplace_back(call, each);
  }
  pop::SplitMix64 random(1);
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[random.below(left)]);

  Grid pairs{.unaligned = grid.unaligned, .at_once = grid.at_once};
  std::unordered_set<std::uint64_t> met;
  for (const auto& [call, each] : order) {
    if (bringsPair(valuesOf(grid.calls[call], each), met) && each == way)
      pairs.calls.push_back(grid.calls[call]);
  }
  return pairs;
}

}  // namespace popdist::contract
