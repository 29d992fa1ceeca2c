// SPDX-License-Identifier: Apache-2.0
// One cell of the tables: an operation with a number of bytes and of ranks.
#pragma once

#include <compare>
#include <cstddef>
#include <string>

#include "bench/collectives_speed/operations.h"

namespace pop::bench::collectives {

/// The bytes of the whole vector: an all-gather's output, a reduce-scatter's input, the data that one rank
/// sends in an all-to-all. 0 for a barrier.
struct Cell {
  Operation operation = Operation::kAllReduce;
  popdist::Type type = popdist::Type::kFloat;
  int ranks = 2;
  std::size_t bytes = 0;

  auto operator<=>(const Cell&) const = default;
};

/// "8 B", "64 KiB", "16 MiB"
std::string sizeInWords(std::size_t bytes);

/// "all-reduce of bfloat16, 4 ranks, 1 MiB"; float is not mentioned.
std::string inWords(const Cell& cell);

}  // namespace pop::bench::collectives
