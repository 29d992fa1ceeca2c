// SPDX-License-Identifier: Apache-2.0
// Chooses which collectives of a communicator over several hosts go first inside each host, then between the
// hosts, then inside again, so that each byte crosses the network once per direction. One table; all ranks
// must make the same choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "libpopdist/collectives/choice/by_messages.h"
#include "libpopdist/collectives/plan/host_layout.h"
#include "libpopdist/collectives/plan/operation.h"

namespace popdist::choice {

enum class HierarchyWay : std::uint8_t {
  kFlat,     ///< messages between all ranks, on whatever hosts
  kLeaders,  ///< one rank of each host speaks for it
  kLanes,    ///< each rank of a host speaks for its part, with those in the same place on other hosts
};

/// "flat", "leaders", "lanes".
const char* nameOf(HierarchyWay way);

/// The choice for an operation with `bytes` in the vector, or in one rank's block.
HierarchyWay hierarchyFor(plan::Operation operation, std::size_t bytes, const plan::HostLayout& layout);

/// The piece size in which a rank passes on what it receives or sends for its host: while one piece is in
/// transit, the host's other ranks work on the one before.
inline constexpr std::size_t kPassedOnBytes = std::size_t{1} << 20;

/// The piece size of an all-reduce in lanes, over all lanes of a host.
inline constexpr std::size_t kLanesPieceBytes = std::size_t{2} << 20;

}  // namespace popdist::choice
