// SPDX-License-Identifier: Apache-2.0
// A collective of the Pod's replicas, carried out: the plan of each replica. Ranks are replicas.
//
//                     kInput                kOutput
//   all-reduce        the vector            the sum; in place too
//   reduce-scatter    the vector            the place's part of the sum
//   all-gather        the place's part      the vector
//   all-to-all        a part for each place a part from each place
//   broadcast         -                     the vector
//   take own part     the vector            the place's part of it
//   reduce-scatter of all: on kOutput, where each block's sum stays with the replica that has it first
#pragma once

#include <vector>

#include "libpopdist/collectives/plan/plan.h"
#include "pod/collectives/collective.h"
#include "pod/collectives/schedule.h"

namespace popdist::pod {

using namespace pop::pod;

/// The plans of replicas [first, first + replicas) for a schedule of the collective. A schedule's round is a
/// round, from 1 on; copies within a replica come before and after. Sums
/// that arrive in one round are added in the order of the schedule's transfers. O(transfers), for all plans
/// together.
std::vector<plan::Plan> plansOf(const Schedule& schedule, const Collective& collective, int first,
                                int replicas);

}  // namespace popdist::pod
