// SPDX-License-Identifier: Apache-2.0
// Algorithms that collectives go by instead of what the tables say: for tests, for measurements, and for
// whoever knows better. All members must be told the same, which is compared when a communicator is made.
#pragma once

#include <optional>
#include <string>

#include "common/base/status.h"
#include "libpopdist/src/choice/by_messages.h"
#include "libpopdist/src/choice/in_memory.h"

namespace popdist::choice {

struct ForcedAlgorithms {
  bool messages = false;                       ///< as if no memory were shared
  std::optional<SharedAlgorithm> in_memory{};  ///< where it can be done
  std::optional<Algorithm> by_messages{};      ///< likewise; hosts are then no levels of their own

  /// For a fence's tag: "", or ", POPDIST_SHARED_ALGORITHM=eager", and likewise the other.
  std::string inTag() const;
};

/// What POPDIST_SHARED_ALGORITHM and POPDIST_MESSAGE_ALGORITHM say. kInvalidArgument names what they may be.
pop::Result<ForcedAlgorithms> forcedByEnvironment();

}  // namespace popdist::choice
