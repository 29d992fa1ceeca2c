// SPDX-License-Identifier: Apache-2.0
// V-IPU's services as a VipuApi, for its clients as they are. Included by this folder only.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <memory>

#include "popdistd/api/vipu_api.h"
#include "popdistd/rpc/calls.h"
#include "popdistd/rpc/peer_of.h"

namespace pop::popdistd {

/// virmgrpc.UserService. `vipu` outlives all calls.
std::unique_ptr<grpc::Service> makeVipuUserService(std::shared_ptr<Calls> calls, VipuApi& vipu,
                                                   std::shared_ptr<const CallersOf> callers);

/// virmgrpc.VersionService; likewise.
std::unique_ptr<grpc::Service> makeVipuVersionService(std::shared_ptr<Calls> calls, VipuApi& vipu,
                                                      std::shared_ptr<const CallersOf> callers);

}  // namespace pop::popdistd
