// SPDX-License-Identifier: Apache-2.0
// Controller.Watch: a change is serialised once, however many watchers it is sent to. Included by this folder
// only.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <memory>

#include "popdistd/rpc/stream_call.h"

namespace pop::popdistd {

/// Its messages are bytes, since gRPC would serialise a message for each stream that it writes it to.
using WatchCall = SourceCall<grpc::ByteBuffer, grpc::ByteBuffer>;

/// For a WatchCall, of bytes that are a WatchRequest.
WatchCall::Open openWatch(Api& api);

}  // namespace pop::popdistd
