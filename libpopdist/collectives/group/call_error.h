// SPDX-License-Identifier: Apache-2.0
// The errors that calls of a group throw.
#pragma once

#include <string>

#include "libpopdist/collectives/group/collective_call.h"
#include "popdist/error.hpp"

namespace popdist::group {

/// Describes a call of a group in errors.
struct CallDescription {
  std::string operation;  ///< popdist_error::operation()
  std::string text;       ///< with what it moves, and the tensor's name
};
/// The description of the whole call that `call` may be a part of.
CallDescription descriptionOf(const CollectiveCall& call);

}  // namespace popdist::group
