// SPDX-License-Identifier: Apache-2.0
// Which way a collective goes in shared memory, and where that is for its calls to find out: one table. All
// ranks must come to the same answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "libpopdist/src/plan/operation.h"

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

/// From so many bytes on, direct is faster where it can be done.
std::size_t leastDirectBytes(int ranks);

/// Up to so many bytes of a rank, eager is faster than staged.
std::size_t maxEagerBytes(plan::Operation operation, int ranks);

/// Of a call whose largest contribution of one rank is `bytes`, when the users' buffers are anywhere.
SharedAlgorithm selectShared(plan::Operation operation, std::size_t bytes, int ranks);

/// Whether there is a way to pull it: not where one rank has the whole result of a reduction.
constexpr bool canBePulled(plan::Operation operation) {
  return operation != plan::Operation::kReduce;
}

/// Whether pull is faster than staged for a sendRecv of `bytes`, where it can be done.
bool isSendRecvWorthPulling(std::size_t bytes, int ranks);

/// Whether it depends on the machine if pull or staged is the faster: of other operations that are not eager.
/// Staged moves twice as often what a core has written, which costs another one little or a multiple; pull
/// costs the system's work for each page.
bool dependsOnMachine(plan::Operation operation, std::size_t bytes, int ranks);

/// Whether ranks that share cores look for a moment for what others have not done yet, before they give way.
/// Not where one rank has what the others wait for, and the next one's may be there before they have it: they
/// would go in step.
constexpr bool looksBeforeGivingWay(plan::Operation operation, SharedAlgorithm algorithm) {
  return operation != plan::Operation::kBroadcast || algorithm != SharedAlgorithm::kStaged;
}

/// Whether what is copied for `bytes` a rank should go past the caches.
bool pastCaches(plan::Operation operation, std::size_t bytes, int ranks);

}  // namespace popdist::choice
