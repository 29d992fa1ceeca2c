// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "popdist/error.hpp"

namespace popdist::testing {

/// The code of `call`'s error; nothing if it returns.
inline std::optional<ErrorCode> errorCodeOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const popdist_error& error) {
    return error.code();
  }
  return std::nullopt;
}

}  // namespace popdist::testing
