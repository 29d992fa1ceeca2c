// SPDX-License-Identifier: Apache-2.0
// The service Access as an AccessApi. Included by this folder only.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <memory>

#include "popdistd/api/access_api.h"
#include "popdistd/rpc/calls.h"
#include "popdistd/rpc/peer_of.h"

namespace pop::popdistd {

/// `access` outlives all calls.
std::unique_ptr<grpc::Service> makeAccessService(std::shared_ptr<Calls> calls, AccessApi& access,
                                                 std::shared_ptr<const CallersOf> callers);

}  // namespace pop::popdistd
