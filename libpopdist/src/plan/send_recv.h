// SPDX-License-Identifier: Apache-2.0
// Who sends what to whom in a sendRecv, and whether all ranks agree on it. Every rank learns what every rank
// has asked for before an element moves, so all come to the same answer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "libpopdist/src/plan/flows.h"

namespace popdist::plan {

/// What one rank asks for. It travels as it is.
struct Partners {
  std::int32_t to = -1;          ///< -1: to nobody
  std::int32_t from = -1;        ///< -1: from nobody
  std::uint64_t send_count = 0;  ///< elements; 0 to nobody
  std::uint64_t recv_count = 0;  ///< likewise
};
static_assert(sizeof(Partners) == 24, "no bytes that are not said");

/// Two ranks that do not fit together, which may be one and the same.
struct Contradiction {
  int rank = 0;
  int other = 0;
  std::string text;

  /// Whom `own` rank blames.
  int seenBy(int own) const { return own == rank ? other : rank; }
};

/// `all[r]` is of rank r. The same on all ranks, whatever there is.
std::optional<Contradiction> findContradiction(std::span<const Partners> all);

/// What leaves or reaches `rank`, in elements from the beginnings of the buffers. Without contradictions.
Flows flowsOf(const Partners& partners, int rank);

}  // namespace popdist::plan
