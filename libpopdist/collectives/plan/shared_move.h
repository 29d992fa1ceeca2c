// SPDX-License-Identifier: Apache-2.0
// Collectives in shared memory that move blocks without reducing them: broadcast, all-gather, gather,
// scatter, all-to-all. All of them are blocks that flow from one rank's input to other ranks' outputs.
#pragma once

#include <memory>

#include "libpopdist/collectives/plan/flows.h"
#include "libpopdist/collectives/plan/shared_plan.h"
#include "libpopdist/collectives/plan/staged_plan.h"

namespace popdist::plan {

/// Each rank puts everything it sends into its stage at once: one wait. For blocks that fit into a stage
/// together.
SharedPlan eagerMove(const Flows& flows, int rank, EagerOrder order);

/// Goes through the stages chunk by chunk; needs at least 2 slots. A block with several receivers is exported
/// once.
std::unique_ptr<StagedPlan> stagedMove(const Flows& flows, int rank, const StageShape& shape);

/// Each rank fetches from the inputs, which must be readable by all, and waits at the end until all have
/// fetched. `gives`: all can also write to the outputs; then ranks that receive nothing do part of the
/// copying for their receivers.
SharedPlan directMove(const Flows& flows, int rank, bool gives);

}  // namespace popdist::plan
