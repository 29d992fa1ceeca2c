// SPDX-License-Identifier: Apache-2.0
#include "popdist/error.hpp"

#include <utility>

#include "common/base/status.h"

namespace popdist {

static_assert(static_cast<int>(ErrorCode::kUnavailable) == static_cast<int>(pop::Code::kUnavailable) &&
                  static_cast<int>(ErrorCode::kDataLoss) == static_cast<int>(pop::Code::kDataLoss),
              "the conversion between the two is a cast");

popdist_error::popdist_error(ErrorCode code, const std::string& message)
    : popdist_error(code, message, Where()) {}

popdist_error::popdist_error(ErrorCode code, const std::string& message, Where where)
    : std::runtime_error(message), code_(code), where_(std::move(where)) {}

}  // namespace popdist
