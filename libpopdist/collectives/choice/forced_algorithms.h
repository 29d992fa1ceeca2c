// SPDX-License-Identifier: Apache-2.0
// Algorithms that replace the tables' choices, for tests, measurements and experts. They must be the same on
// all members, which is checked when a communicator is made.
#pragma once

#include <optional>
#include <string>

#include "common/base/status.h"
#include "libpopdist/collectives/choice/by_messages.h"
#include "libpopdist/collectives/choice/in_memory.h"

namespace popdist::choice {

struct ForcedAlgorithms {
  bool messages = false;                       ///< behave as if the ranks shared no memory
  std::optional<SharedAlgorithm> in_memory{};  ///< if the algorithm supports the call
  std::optional<Algorithm>
      by_messages{};  ///< if the algorithm supports the call; hosts are then no levels of their own

  /// For a fence's tag: "", or ", POPDIST_SHARED_ALGORITHM=eager", and the same for the other variable.
  std::string inTag() const;
};

/// Reads POPDIST_SHARED_ALGORITHM and POPDIST_MESSAGE_ALGORITHM. kInvalidArgument names the valid values.
pop::Result<ForcedAlgorithms> forcedByEnvironment();

}  // namespace popdist::choice
