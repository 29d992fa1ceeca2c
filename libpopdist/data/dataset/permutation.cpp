// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/dataset/permutation.h"

#include <algorithm>
#include <cmath>

#include "common/base/random.h"

namespace popdist::io {
namespace {

constexpr std::uint64_t kSmall = 1024;
constexpr std::uint64_t kRoundsOfSmall = 20;  // fewer leave permutations of a few elements visibly uneven
constexpr std::uint64_t kRounds = 6;

__extension__ using Uint128 = unsigned __int128;

/// A number below `bound` that depends on all bits of key, round and value.
std::uint64_t roundFunction(std::uint64_t key, std::uint64_t round, std::uint64_t value,
                            std::uint64_t bound) {
  std::uint64_t mixed = (value + key + round * 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 32U)) * 0x94D049BB133111EBU;
  return static_cast<std::uint64_t>((Uint128{mixed ^ (mixed >> 31U)} * bound) >> 64U);
}

std::uint64_t sumBelow(std::uint64_t a, std::uint64_t b, std::uint64_t bound) {
  const std::uint64_t sum = a + b;
  return sum < bound ? sum : sum - bound;
}

}  // namespace

Permutation::Permutation(std::uint64_t count)
    : count_(count), rounds_(count < kSmall ? kRoundsOfSmall : kRounds) {
  rows_ = std::max<std::uint64_t>(2, static_cast<std::uint64_t>(std::sqrt(static_cast<double>(count))));
  columns_ = std::max<std::uint64_t>(2, count / rows_ + 1);
}

std::uint64_t Permutation::keyOf(std::uint64_t seed, std::uint64_t epoch) {
  // Mixed one after the other: seed + epoch would make epoch 1 of seed 0 repeat epoch 0 of seed 1.
  pop::SplitMix64 mixed_seed(seed);
  pop::SplitMix64 mixed_epoch(mixed_seed.next() ^ epoch);
  return mixed_epoch.next();
}

std::uint64_t Permutation::at(std::uint64_t index, std::uint64_t key) const {
  do {
    std::uint64_t row = index / columns_;
    std::uint64_t column = index % columns_;
    for (std::uint64_t round = 0; round < rounds_; round += 2) {
      row = sumBelow(row, roundFunction(key, round, column, rows_), rows_);
      column = sumBelow(column, roundFunction(key, round + 1, row, columns_), columns_);
    }
    index = row * columns_ + column;
  } while (index >= count_);
  return index;
}

}  // namespace popdist::io
