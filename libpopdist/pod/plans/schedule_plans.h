// SPDX-License-Identifier: Apache-2.0
// Sums of which each replica needs some elements only, as plans; and the elements of a schedule's blocks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libpopdist/collectives/plan/plan.h"
#include "pod/collectives/schedule.h"

namespace popdist::pod {

using namespace pop::pod;

/// The elements that both have.
plan::Range overlap(plan::Range a, plan::Range b);

/// The elements of so many blocks of a vector of `count` elements.
plan::Range elementsOf(const Schedule& schedule, std::uint32_t first, std::uint32_t blocks,
                       std::size_t count);

/// Elements of a sum that a replica needs.
struct Need {
  int replica = 0;
  plan::Range elements;
};

/// The sums of a schedule that reduces, which leaves each block's with one replica, and then that replica
/// sends it to those that need it: `needs`, one for a replica at most, the same in all plans.
std::vector<plan::Plan> plansToNeeds(const Schedule& reduces, int first, int replicas, std::size_t count,
                                     std::span<const Need> needs);

}  // namespace popdist::pod
