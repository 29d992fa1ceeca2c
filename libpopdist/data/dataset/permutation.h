// SPDX-License-Identifier: Apache-2.0
// A permutation of 0 … count - 1 that needs no table: the place of any index can be asked for alone.
#pragma once

#include <cstdint>

namespace popdist::io {

/// A generalised Feistel network over a rectangle of at least `count` cells, walked until it falls on one of
/// them (Black and Rogaway 2002). Part of the library's format: the same (count, seed, epoch) gives the same
/// order in every version and on every machine.
class Permutation {
 public:
  /// count >= 1.
  explicit Permutation(std::uint64_t count);

  /// One of the permutations.
  static std::uint64_t keyOf(std::uint64_t seed, std::uint64_t epoch);

  /// The element at `index` (< count) under `key`: each of 0 … count - 1 at exactly one. Some 30 ns.
  std::uint64_t at(std::uint64_t index, std::uint64_t key) const;

 private:
  std::uint64_t count_;
  std::uint64_t rows_;     // the rectangle's
  std::uint64_t columns_;  // rows_ * columns_ >= count_, both about its root
  std::uint64_t rounds_;
};

}  // namespace popdist::io
