// SPDX-License-Identifier: Apache-2.0
// Chooses the algorithm of a collective in shared memory, from one table, or says that calls must find it
// out. All ranks must make the same choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "libpopdist/collectives/plan/operation.h"

namespace popdist::choice {

enum class SharedAlgorithm : std::uint8_t {
  kEager,   ///< all data into the stages at once, one wait
  kStaged,  ///< through the stages, chunk by chunk
  kDirect,  ///< from and to the users' buffers, which all must be in the segment
  kPull,    ///< straight from the users' buffers, read by the system where they are not in the segment
};

/// "eager", "staged", "direct", "pull".
const char* nameOf(SharedAlgorithm algorithm);
std::optional<SharedAlgorithm> sharedAlgorithmNamed(const char* name);

/// From this many bytes on, direct is faster where it is possible.
std::size_t leastDirectBytes(int ranks);

/// Up to this many bytes per rank, eager is faster than staged.
std::size_t maxEagerBytes(plan::Operation operation, int ranks);

/// The choice for a call whose largest contribution of one rank is `bytes`, whatever memory the users'
/// buffers are in.
SharedAlgorithm selectShared(plan::Operation operation, std::size_t bytes, int ranks);

/// True if the operation can be pulled: not if one rank gets the whole result of a reduction.
constexpr bool canBePulled(plan::Operation operation) {
  return operation != plan::Operation::kReduce;
}

/// True if pull is faster than staged for a sendRecv of `bytes`, where it is possible.
bool isSendRecvWorthPulling(std::size_t bytes, int ranks);

/// True if the machine decides between pull and staged: for operations other than sendRecv that are not
/// eager. Staged moves twice as often what a core has written, which costs another core little or a lot; pull
/// costs the kernel's work for each page.
bool dependsOnMachine(plan::Operation operation, std::size_t bytes, int ranks);

/// True if ranks that share cores spin for a moment before they yield. Not where one rank has what the others
/// wait for and the next call's data may be there before they have read it: the ranks would run in lockstep.
constexpr bool looksBeforeGivingWay(plan::Operation operation, SharedAlgorithm algorithm) {
  return operation != plan::Operation::kBroadcast || algorithm != SharedAlgorithm::kStaged;
}

/// True if copies for `bytes` per rank should bypass the caches.
bool pastCaches(plan::Operation operation, std::size_t bytes, int ranks);

}  // namespace popdist::choice
