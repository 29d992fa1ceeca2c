// SPDX-License-Identifier: Apache-2.0
// One cell of the tables: an operation on so many bytes by so many ranks.
#pragma once

#include <compare>
#include <cstddef>
#include <string>

#include "bench/collectives_speed/operations.h"

namespace pop::bench::collectives {

/// Bytes are those of the whole vector: of an all-gather's output, of a reduce-scatter's input, of what one
/// rank sends in an all-to-all. 0 for a barrier.
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
