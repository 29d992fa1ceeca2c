// SPDX-License-Identifier: Apache-2.0
// The connection to popdistd. Included by this folder only.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <memory>

#include "common/base/status.h"
#include "popctl/rpc/server.h"
#include "proto/popdist/v1/controller.grpc.pb.h"

namespace pop::popctl {

namespace v1 = ::popdist::v1;

struct Connection {
  /// Connects when it is first used.
  explicit Connection(Server which);

  const Server server;
  const std::shared_ptr<grpc::Channel> channel;
  const std::unique_ptr<v1::Controller::Stub> stub;
};

/// Waits before the next attempt at a connection that is lost, for `pause` or until more is known of it. gRPC
/// goes on connecting only while somebody waits in it: a plain sleep would leave each attempt to its time
/// limit.
void waitWhileConnecting(Connection& connection, std::chrono::milliseconds pause);

/// With the server's words; where there was none, with its address and what to check.
Status fromGrpc(const grpc::Status& status, const Server& server);

/// The same of a stream's end. Streams have no deadline of ours: the server has given up one that was not
/// read for long, and it may be asked for again (kUnavailable).
Status streamEnd(const grpc::Status& status, const Server& server);

}  // namespace pop::popctl
