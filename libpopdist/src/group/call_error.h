// SPDX-License-Identifier: Apache-2.0
// What calls of a group throw.
#pragma once

#include <string>

#include "libpopdist/src/group/collective_call.h"
#include "popdist/error.hpp"

namespace popdist::group {

/// A call of a group, for errors.
struct CallDescription {
  std::string operation;  ///< popdist_error::operation()
  std::string text;       ///< with what it moves, and its tensor
};
/// Of the whole that `call` may be a part of.
CallDescription descriptionOf(const CollectiveCall& call);

}  // namespace popdist::group
