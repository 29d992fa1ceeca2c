// SPDX-License-Identifier: Apache-2.0
// Bytes and busy time of each IPU and each link in a collective, all rounds together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pod/clock/clock.h"

namespace pop::pod {

struct Use {
  std::uint64_t bytes = 0;  ///< that an IPU sends, or a link carries
  Picoseconds busy{0};      ///< an IPU: rounds' transfers in which it sends or receives
};

struct Uses {
  std::vector<Use> ipus;   ///< by number: those of the replicas
  std::vector<Use> links;  ///< by id
};

/// For the collective that simulate() times. O(all transfers * hops).
Uses usesOf(const Topology& topology, const ReplicaLayout& layout, const Schedule& schedule,
            std::uint64_t count, std::size_t element_bytes);

}  // namespace pop::pod
