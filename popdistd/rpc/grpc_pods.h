// SPDX-License-Identifier: Apache-2.0
// The service Pods as a PodsApi. Included by this folder only.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <memory>

#include "popdistd/api/pods_api.h"
#include "popdistd/rpc/calls.h"
#include "popdistd/rpc/peer_of.h"

namespace pop::popdistd {

/// `pods` outlives all calls.
std::unique_ptr<grpc::Service> makePodsService(std::shared_ptr<Calls> calls, PodsApi& pods,
                                               std::shared_ptr<const CallersOf> callers);

}  // namespace pop::popdistd
