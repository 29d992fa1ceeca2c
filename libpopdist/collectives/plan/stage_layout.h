// SPDX-License-Identifier: Apache-2.0
// Division of a rank's stage into slots, and the data that goes through it at a time.
#pragma once

#include <cstddef>

#include "libpopdist/collectives/plan/operation.h"
#include "libpopdist/collectives/plan/shared_plan.h"

namespace popdist::plan {

/// The parts of a rank's stage, and the most that may go at once: the same for all calls of a communicator.
struct StageLayout {
  StageShape slots;
  std::size_t ring_bytes = 0;  ///< for data that goes at once
  std::size_t eager_bytes =
      0;  ///< the most of one rank in one call: the ring holds two calls wherever they lie
  std::size_t bytes() const { return slots.slots * slots.slot_bytes + ring_bytes; }
};
StageLayout stageLayoutFor(int ranks);

/// The data that goes through a slot at a time. Data that moves one way goes in smaller chunks than there is
/// room for: no rank imports while the first chunk is exported, and none exports while the last one is
/// imported.
StageShape chunksOf(Operation operation, const StageShape& slots);

}  // namespace popdist::plan
