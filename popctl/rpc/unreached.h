// SPDX-License-Identifier: Apache-2.0
// Why popdistd cannot be reached, in words of popctl's.
#pragma once

#include <string>

#include "popctl/rpc/server.h"

namespace pop::popctl {

/// "popdistd cannot be reached at HOST:PORT with TLS (--server, --tls): …": the cause and what to do, for
/// what gRPC says of a connection that could not be made. Unknown words are passed on.
std::string unreachedText(const Server& server, const std::string& grpc_words);

}  // namespace pop::popctl
