// SPDX-License-Identifier: Apache-2.0
// gRPC's outcomes and ours: the codes are the same numbers.
#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "common/base/status.h"

namespace pop::rpc {

inline Status fromGrpc(const grpc::Status& status) {
  if (status.ok()) return {};
  const int code = static_cast<int>(status.error_code());
  // UNAUTHENTICATED (16) has no number of ours: whoever is not known is not permitted.
  const bool ours = code > 0 && code <= static_cast<int>(Code::kDataLoss);
  return {ours ? static_cast<Code>(code) : Code::kPermissionDenied, status.error_message()};
}

inline grpc::Status toGrpc(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), status.message()};
}

}  // namespace pop::rpc
