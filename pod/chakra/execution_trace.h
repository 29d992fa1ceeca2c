// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces (MLCommons): what one rank computes and exchanges, as a graph of nodes. A rank is a
// replica. docs/reference/chakra.md has what is read of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "pod/collectives/gcl.h"

namespace pop::pod::chakra {

struct TracedCollective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::uint64_t bytes = 0;  ///< that each rank puts in: of an all-gather its part
  std::uint32_t element_bytes = 4;

  friend bool operator==(const TracedCollective&, const TracedCollective&) = default;
};

struct TraceNode {
  std::uint64_t id = 0;
  std::string name;                            ///< may be hostile
  std::vector<std::uint64_t> dependencies;     ///< ids of nodes that end before it begins
  std::chrono::microseconds duration{0};       ///< of computation
  std::optional<TracedCollective> collective;  ///< missing: it computes
};

/// Most bytes of a collective's vector.
inline constexpr std::uint64_t kMostTracedBytes = 1'000'000'000'000'000;

/// "node 7, 'grads'": for messages.
std::string inWords(const TraceNode& node);

/// The nodes of a file, in its order. kInvalidArgument, as "FILE: …", and which node: bytes that are no such
/// trace, another version of its schema, and all that the simulation would have to leave out: messages
/// between two ranks, memory, groups of ranks, work of the host, other collectives, computation without a
/// duration. The bytes may be hostile. Cost: O(bytes).
Result<std::vector<TraceNode>> readExecutionTrace(std::string_view bytes, std::string_view file);

/// The bytes of a trace: readExecutionTrace() makes the same of it.
std::string executionTrace(std::span<const TraceNode> nodes);

}  // namespace pop::pod::chakra
