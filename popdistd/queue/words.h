// SPDX-License-Identifier: Apache-2.0
// Why a job does not start, in words. Pure.
#pragma once

#include <string>
#include <utility>

#include "popdistd/queue/bookings.h"
#include "popdistd/queue/plan.h"

namespace pop::queue {

struct Reason {
  Why why = Why::kSlots;
  std::string text;
};

/// The reason why a job's shape does not fit into `room` with this guard. `allocations`: with what they have
/// by now.
Reason whyNoFit(const Snapshot& snapshot, const std::vector<Account>& allocations, const Shape& shape,
                const Room& room, const Guard& guard, const Bookings& bookings);

}  // namespace pop::queue
