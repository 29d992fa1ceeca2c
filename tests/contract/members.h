// SPDX-License-Identifier: Apache-2.0
// The callers of a case: members of a communicator, one call at a time or by name.
#pragma once

#include <functional>
#include <set>

#include "popdist/async.hpp"
#include "popdist/communicator.hpp"
#include "popdist/context.hpp"
#include "tests/contract/case.h"

namespace popdist::contract {

struct Members {
  int rank = 0;
  int ranks = 1;
  /// Returns when the call of this rank is done.
  std::function<void(const Case&, const void* in, void* out)> call;
};

Members membersOf(Communicator& communicator);

/// By a name that follows from the case's seed. The operations that AsyncCommunicator has: canBeNamed().
Members membersOf(AsyncCommunicator& communicator);
bool canBeNamed(const Case& tested);

/// The indices of all instances, for a communicator.
std::set<unsigned> everybody(const Context& context);

}  // namespace popdist::contract
