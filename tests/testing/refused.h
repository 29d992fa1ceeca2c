// SPDX-License-Identifier: Apache-2.0
// Calls that cannot be made at all, as in a forked child.
#pragma once

#include "popdist/error.hpp"

namespace popdist::testing {

/// True if `call` throws kFailedPrecondition. For processes that cannot use GoogleTest.
template <typename Call>
bool isRefused(const Call& call) {
  try {
    call();
  } catch (const popdist_error& error) {
    return error.code() == ErrorCode::kFailedPrecondition;
  }
  return false;
}

}  // namespace popdist::testing
