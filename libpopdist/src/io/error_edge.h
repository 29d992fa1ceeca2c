// SPDX-License-Identifier: Apache-2.0
// The step from Status (inside) to popdist_error (the public edge), naming the public function that failed.
#pragma once

#include <string>

#include "common/base/status.h"
#include "popdist/error.hpp"

namespace popdist::io {

inline void throwIfError(const pop::Status& status, const std::string& operation) {
  if (status.ok()) return;
  throw popdist_error(static_cast<ErrorCode>(status.code()), operation + ": " + status.message(),
                      {.rank = -1, .peer = -1, .operation = operation});
}

}  // namespace popdist::io
