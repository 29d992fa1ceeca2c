// SPDX-License-Identifier: Apache-2.0
// Hosts.Join: a host's stream as a HostChannel. Included by this folder only.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <memory>

#include "popdistd/api/host_gate.h"
#include "popdistd/rpc/calls.h"
#include "popdistd/rpc/peer_of.h"

namespace pop::popdistd {

/// `gate` outlives all calls.
std::unique_ptr<grpc::Service> makeHostsService(std::shared_ptr<Calls> calls, HostGate& gate,
                                                std::shared_ptr<const CallersOf> callers);

}  // namespace pop::popdistd
