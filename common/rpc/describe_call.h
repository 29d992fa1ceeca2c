// SPDX-License-Identifier: Apache-2.0
// Asks an agent service what it does and allows just now.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "common/base/loop.h"
#include "common/base/status.h"
#include "proto/popdist/v1/agent.pb.h"

namespace grpc {
class Channel;
}

namespace pop::rpc {

namespace v1 = ::popdist::v1;

/// `done`, once, on the loop's thread, within `patience`: the answer, or how the call ended without one (the
/// words of connect_errors.h are for that).
void describeService(Loop& loop, const std::shared_ptr<grpc::Channel>& channel,
                     std::chrono::milliseconds patience,
                     std::function<void(Result<v1::HostDescription>)> done);

}  // namespace pop::rpc
