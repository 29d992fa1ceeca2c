// SPDX-License-Identifier: Apache-2.0
// The service Pods as a PodsApi. Included by this folder only.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <memory>
#include <string>

#include "popdistd/api/pods_api.h"
#include "popdistd/rpc/calls.h"

namespace pop::popdistd {

/// `pods` outlives all calls.
std::unique_ptr<grpc::Service> makePodsService(std::shared_ptr<Calls> calls, PodsApi& pods,
                                               std::string own_user);

}  // namespace pop::popdistd
