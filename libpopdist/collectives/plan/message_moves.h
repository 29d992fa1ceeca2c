// SPDX-License-Identifier: Apache-2.0
// Flows as messages, in elements: each block goes straight from its owner to the rank that needs it, all at
// once.
#pragma once

#include "libpopdist/collectives/plan/flows.h"
#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

/// The steps of `rank`, from and to kInput and kOutput. There is at most one message each way between two
/// ranks.
Plan planMoves(const Flows& flows, int rank);

}  // namespace popdist::plan
