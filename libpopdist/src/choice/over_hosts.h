// SPDX-License-Identifier: Apache-2.0
// Which collectives of a communicator over several hosts go first inside each host, then between the hosts,
// then inside again, so that each byte crosses the network once per direction. One table; all ranks must come
// to the same answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "libpopdist/src/choice/by_messages.h"
#include "libpopdist/src/plan/host_layout.h"
#include "libpopdist/src/plan/operation.h"

namespace popdist::choice {

enum class HierarchyWay : std::uint8_t {
  kFlat,     ///< messages between all ranks, wherever they are
  kLeaders,  ///< one rank of each host speaks for it
  kLanes,    ///< each rank of a host speaks for its part, with those in the same place on other hosts
};

/// "flat", "leaders", "lanes".
const char* nameOf(HierarchyWay way);

/// Of an operation with `bytes` in the vector, or in one rank's block.
HierarchyWay hierarchyFor(plan::Operation operation, std::size_t bytes, const plan::HostLayout& layout);

/// `bytes` of a vector that one rank receives for its host, or sends for it, are passed on in pieces of at
/// most so many: while one is under way the others of the host work on the piece before.
inline constexpr std::size_t kPassedOnBytes = std::size_t{1} << 20;

/// An all-reduce in lanes goes in pieces of so much of all of a host's lanes.
inline constexpr std::size_t kLanesPieceBytes = std::size_t{2} << 20;

}  // namespace popdist::choice
