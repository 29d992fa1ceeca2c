// SPDX-License-Identifier: Apache-2.0
// Which way a collective goes in shared memory: one table. All ranks must come to the same answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "libpopdist/src/plan/operation.h"
#include "libpopdist/src/plan/shared_plan.h"

namespace popdist::plan {

enum class SharedAlgorithm : std::uint8_t {
  kEager,   ///< all data into the stages at once, one wait
  kStaged,  ///< through the stages, chunk by chunk
  kDirect,  ///< from and to the users' buffers, which all must be in the segment
};

/// "eager", "staged", "direct".
const char* nameOf(SharedAlgorithm algorithm);
std::optional<SharedAlgorithm> sharedAlgorithmNamed(const char* name);

/// Room of a rank's stage. Each rank has two.
inline constexpr std::size_t kStageBytes = 2 << 20;

/// Of a call whose largest contribution of one rank is `bytes`, when the users' buffers are anywhere.
SharedAlgorithm selectShared(Operation operation, std::size_t bytes, int ranks);

/// How the stages are used by the staged algorithms.
StageShape stageShapeFor(Operation operation, int ranks);

/// Whether what is copied for `bytes` a rank should go past the caches.
bool pastCaches(Operation operation, std::size_t bytes, int ranks);

}  // namespace popdist::plan
