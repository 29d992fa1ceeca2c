// SPDX-License-Identifier: Apache-2.0
// The service Controller as an Api. Included by this folder only.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <memory>

#include "popdistd/api/api.h"
#include "popdistd/rpc/calls.h"
#include "popdistd/rpc/peer_of.h"

namespace pop::popdistd {

/// `api` outlives all calls.
std::unique_ptr<grpc::Service> makeControllerService(std::shared_ptr<Calls> calls, Api& api,
                                                     std::shared_ptr<const CallersOf> callers);

}  // namespace pop::popdistd
