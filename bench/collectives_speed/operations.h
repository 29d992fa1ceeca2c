// SPDX-License-Identifier: Apache-2.0
// The measured operations, named as on command lines and in figures.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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

}  // namespace pop::bench::collectives
