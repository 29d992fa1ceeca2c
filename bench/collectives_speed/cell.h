// SPDX-License-Identifier: Apache-2.0
// The measured operations, named as on command lines and in figures, and a cell of the tables: an operation
// with a number of bytes and of ranks.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "popdist/types.hpp"

namespace pop::bench::collectives {

enum class Operation : std::uint8_t {
  kAllReduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBarrier,
};

inline constexpr std::array kOperations{Operation::kAllReduce, Operation::kBroadcast,
                                        Operation::kAllGather, Operation::kReduceScatter,
                                        Operation::kAllToAll,  Operation::kBarrier};
/// The measured element types; only libpopdist sums the 16-bit ones.
inline constexpr std::array kTypes{popdist::Type::kFloat, popdist::Type::kBfloat16, popdist::Type::kHalf};

constexpr const char* nameOf(Operation operation) {
  constexpr std::array kNames{"all-reduce",     "broadcast",  "all-gather",
                              "reduce-scatter", "all-to-all", "barrier"};
  return kNames[static_cast<std::size_t>(operation)];
}

inline std::optional<Operation> operationNamed(std::string_view name) {
  for (const Operation operation : kOperations) {
    if (name == nameOf(operation)) return operation;
  }
  return std::nullopt;
}

inline std::optional<popdist::Type> typeNamed(std::string_view name) {
  for (const popdist::Type type : kTypes) {
    if (name == popdist::nameOf(type)) return type;
  }
  return std::nullopt;
}

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
