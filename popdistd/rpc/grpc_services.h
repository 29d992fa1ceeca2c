// SPDX-License-Identifier: Apache-2.0
// The daemon's interfaces as gRPC services, each in a file of its own. An interface outlives all calls.
// Included by this folder only.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <memory>

#include "popdistd/api/access_api.h"
#include "popdistd/api/api.h"
#include "popdistd/api/host_gate.h"
#include "popdistd/api/pods_api.h"
#include "popdistd/api/vipu_api.h"
#include "popdistd/rpc/calls.h"
#include "popdistd/rpc/peer_of.h"

namespace pop::popdistd {

std::unique_ptr<grpc::Service> makeControllerService(std::shared_ptr<Calls> calls, Api& api,
                                                     std::shared_ptr<const CallersOf> callers);

std::unique_ptr<grpc::Service> makePodsService(std::shared_ptr<Calls> calls, PodsApi& pods,
                                               std::shared_ptr<const CallersOf> callers);

std::unique_ptr<grpc::Service> makeAccessService(std::shared_ptr<Calls> calls, AccessApi& access,
                                                 std::shared_ptr<const CallersOf> callers);

/// Hosts.Join: a host's stream as a HostChannel.
std::unique_ptr<grpc::Service> makeHostsService(std::shared_ptr<Calls> calls, HostGate& gate,
                                                std::shared_ptr<const CallersOf> callers);

/// virmgrpc.UserService, for V-IPU's clients as they are.
std::unique_ptr<grpc::Service> makeVipuUserService(std::shared_ptr<Calls> calls, VipuApi& vipu,
                                                   std::shared_ptr<const CallersOf> callers);

/// virmgrpc.VersionService, likewise.
std::unique_ptr<grpc::Service> makeVipuVersionService(std::shared_ptr<Calls> calls, VipuApi& vipu,
                                                      std::shared_ptr<const CallersOf> callers);

}  // namespace pop::popdistd
