// SPDX-License-Identifier: Apache-2.0
// Dissemination barrier (Hensgen, Finkel, Manber, 1988): no rank is a bottleneck, and it works for any number
// of ranks.
#pragma once

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

/// Ends on a rank only after it has begun on every rank. ceil(log2 n) rounds of one element each: from
/// kInput[0], whose value does not matter, to scratch. Not of zero elements, because those would need no
/// message.
Plan planDisseminationBarrier(int rank, int ranks);

}  // namespace popdist::plan
