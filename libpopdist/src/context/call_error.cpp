// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/context/call_error.h"

namespace popdist::context {

CallDescription descriptionOf(const CollectiveCall& call) {
  return {nameOf(call.operation), describeCall(keyOf(call).packed(), agreedCount(call), call.tensor)};
}

void throwIfFailed(const LinkError& error, const char* operation) {
  if (error.ok()) return;
  throw popdist_error(static_cast<ErrorCode>(error.status.code()),
                      std::string(operation) + ": " + error.status.message(),
                      {.rank = -1, .peer = error.instance, .operation = operation});
}

}  // namespace popdist::context
