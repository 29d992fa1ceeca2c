// SPDX-License-Identifier: Apache-2.0
// Carries out plans whose ranks are all in this process: what a step sends is copied, and nothing waits.
#pragma once

#include <span>

#include "libpopdist/collectives/calls/messages/message_runner.h"
#include "popdist/operators.hpp"
#include "popdist/types.hpp"

namespace popdist::pod {

/// One part for each of the ranks [first_rank, first_rank + parts.size()), whose plans send to each other
/// alone, in the same rounds. The bits are those that messages give. Costs a copy of all that a round sends.
/// Throws std::bad_alloc.
void exchangeLocally(std::span<const calls::MessageRunner::Part> parts, int first_rank, Type type,
                     Operator folds);

}  // namespace popdist::pod
