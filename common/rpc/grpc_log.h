// SPDX-License-Identifier: Apache-2.0
// gRPC's own log. What it has to say to users, it says in the status of a call.
#pragma once

namespace pop::rpc {

/// From now on gRPC writes nothing on stderr, unless the environment asks for it (GRPC_VERBOSITY).
void keepGrpcQuiet();

}  // namespace pop::rpc
