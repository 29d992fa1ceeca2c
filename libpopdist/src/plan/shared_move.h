// SPDX-License-Identifier: Apache-2.0
// Collectives in shared memory that move blocks without reducing them: broadcast, all-gather, gather,
// scatter, all-to-all. All are the same thing: blocks that flow from one rank's input to others' outputs.
#pragma once

#include <memory>

#include "libpopdist/src/plan/flows.h"
#include "libpopdist/src/plan/shared_plan.h"
#include "libpopdist/src/plan/staged_plan.h"

namespace popdist::plan {

/// Everybody puts all that leaves it into its stage, at once: one wait. For blocks that fit into a stage
/// together.
SharedPlan eagerMove(const Flows& flows, int rank, EagerOrder order);

/// Through the stages, a chunk at a time: at least 2 slots. A block that goes to several is exported
/// once.
std::unique_ptr<StagedPlan> stagedMove(const Flows& flows, int rank, const StageShape& shape);

/// Every rank fetches straight from the inputs, which must be readable by everybody, and waits at the end
/// until everybody has. `gives`: outputs can be written by everybody, too; then ranks that receive nothing do
/// a part of the work of those that receive from them.
SharedPlan directMove(const Flows& flows, int rank, bool gives);

}  // namespace popdist::plan
