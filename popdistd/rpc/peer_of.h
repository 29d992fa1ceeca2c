// SPDX-License-Identifier: Apache-2.0
// Who a gRPC call comes from. Included by this folder only.
#pragma once

#include <grpcpp/server_context.h>

#include "popdistd/access/callers.h"

namespace pop::popdistd {

Peer peerOf(const grpc::CallbackServerContext& context);

}  // namespace pop::popdistd
