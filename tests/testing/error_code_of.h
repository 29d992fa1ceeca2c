// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "popdist/error.hpp"

namespace popdist::testing {

/// What `call` throws; nothing if it returns.
inline std::optional<ErrorCode> errorCodeOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const popdist_error& error) {
    return error.code();
  }
  return std::nullopt;
}

}  // namespace popdist::testing
