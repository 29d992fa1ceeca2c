// SPDX-License-Identifier: Apache-2.0
// The transfers of a sendRecv, and the check that all ranks agree on them. Every rank learns what all ranks
// asked for before an element moves, so all come to the same result.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "libpopdist/collectives/plan/flows.h"

namespace popdist::plan {

/// One rank's request, in the form in which it is sent.
struct Partners {
  std::int32_t to = -1;          ///< -1: sends nothing
  std::int32_t from = -1;        ///< -1: receives nothing
  std::uint64_t send_count = 0;  ///< elements; 0 if nothing is sent
  std::uint64_t recv_count = 0;  ///< likewise
};
static_assert(sizeof(Partners) == 24, "no bytes that are not said");

/// Two ranks whose requests contradict each other; they may be the same rank.
struct Contradiction {
  int rank = 0;
  int other = 0;
  std::string text;

  /// The rank that rank `own` blames.
  int seenBy(int own) const { return own == rank ? other : rank; }
};

/// `all[r]` is that of rank r. The result is the same on all ranks.
std::optional<Contradiction> findContradiction(std::span<const Partners> all);

/// The flows that leave or reach `rank`, in elements from the start of the buffers. Needs consistent
/// requests.
Flows flowsOf(const Partners& partners, int rank);

}  // namespace popdist::plan
