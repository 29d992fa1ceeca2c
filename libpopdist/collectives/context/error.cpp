// SPDX-License-Identifier: Apache-2.0
#include "popdist/error.hpp"

#include <string>
#include <utility>

#include "libpopdist/collectives/context/link.h"
#include "popdist/held.hpp"

namespace popdist {

static_assert(static_cast<int>(ErrorCode::kUnavailable) == static_cast<int>(pop::Code::kUnavailable) &&
                  static_cast<int>(ErrorCode::kDataLoss) == static_cast<int>(pop::Code::kDataLoss),
              "the conversion between the two is a cast");

popdist_error::popdist_error(ErrorCode code, const std::string& message)
    : popdist_error(code, message, Where()) {}

popdist_error::popdist_error(ErrorCode code, const std::string& message, Where where)
    : std::runtime_error(message), code_(code), where_(std::move(where)) {}

popdist_error::popdist_error(ErrorCode code, const std::string& call, const std::string& cause, Where where)
    : std::runtime_error(call + ": " + cause),
      code_(code),
      where_(std::move(where)),
      cause_at_(call.size() + 2) {}

void detail::refuseMovedFrom(const char* type) {
  throw popdist_error(
      ErrorCode::kFailedPrecondition,
      std::string("this ") + type +
          " was moved from: call the object that it was moved to, or assign another one to it");
}

void context::throwIfFailed(const LinkError& error, const char* operation) {
  if (error.ok()) return;
  throw popdist_error(static_cast<ErrorCode>(error.status.code()),
                      std::string(operation) + ": " + error.status.message(),
                      {.rank = -1, .peer = error.instance, .operation = operation});
}

}  // namespace popdist
