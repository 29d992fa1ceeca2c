// SPDX-License-Identifier: Apache-2.0
// The collectives that there are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace popdist::plan {

enum class Operation : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kAllToAll,
  kBarrier,
  kReduce,
  kGather,
  kScatter,
};

/// As the API calls it: "allReduce".
inline const char* nameOf(Operation operation) {
  constexpr const char* kNames[] = {"allReduce",   "reduceScatter", "allGather", "broadcast", "allToAll",
                                    "synchronize", "reduce",        "gather",    "scatter"};
  return kNames[static_cast<std::size_t>(operation)];
}

}  // namespace popdist::plan
