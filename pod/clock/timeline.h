// SPDX-License-Identifier: Apache-2.0
// A collective on the simulated clock, round by round: for pictures. clock.h has its whole time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "pod/clock/clock.h"

namespace pop::pod {

struct LinkUse {
  int link = 0;  ///< in Topology::links()
  std::uint64_t bytes = 0;
};

struct Round {
  int number = 0;
  std::string_view phase;
  Picoseconds begin{0};
  Picoseconds transfers{0};      ///< until the busiest link is done and the farthest message is there
  Picoseconds cost{0};           ///< software and sync, after that
  std::vector<LinkUse> links;    ///< those that carry something, in the order of their first message
  std::vector<Transfer> copies;  ///< between replicas
};

/// Calls `visit` for every round of the collective that simulate() times, in order. The last one ends at its
/// total. O(all transfers * hops).
void forEachRound(const Topology& topology, const ReplicaLayout& layout, const Schedule& schedule,
                  std::uint64_t count, std::size_t element_bytes,
                  const std::function<void(const Round&)>& visit);

}  // namespace pop::pod
