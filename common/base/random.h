// SPDX-License-Identifier: Apache-2.0
// Reproducible random numbers: the same seed gives the same sequence on every machine and library version,
// which std::shuffle and the standard distributions do not promise.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>

namespace pop {

/// SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, passes BigCrush, any seed is a good seed.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, bound); bound > 0. Unbiased: draws from the incomplete last interval are rejected.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    std::uint64_t draw = next();
    while (draw >= limit) draw = next();
    return draw % bound;
  }

  /// Uniform in [0, 1), 53 random bits.
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// Normal of mean 0 and deviation 1, by Box and Muller; the same wherever log and cos are the same.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - unit()));  // unit() is never 1
    return radius * std::cos(2 * std::numbers::pi * unit());
  }

 private:
  std::uint64_t state_;
};

/// Fisher–Yates: every permutation of `items` equally likely, decided by `random` alone.
template <typename T>
void shuffle(std::span<T> items, SplitMix64& random) {
  for (std::size_t left = items.size(); left > 1; --left)
    std::swap(items[left - 1], items[random.below(left)]);
}

}  // namespace pop
