// SPDX-License-Identifier: Apache-2.0
// The connections of one Unix user by the local socket: a gRPC server of their own, since gRPC cannot tell a
// call's connection from another that gets its descriptor's number later. So the user is the server's,
// whatever happens to connections. Included by this folder only; on the loop's thread.
#pragma once

#include <grpcpp/impl/service_type.h>
#include <grpcpp/server.h>
#include <sys/types.h>

#include <memory>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::popdistd {

class LocalServer {
 public:
  static constexpr std::size_t kMostConnections = 256;

  LocalServer(std::vector<std::unique_ptr<grpc::Service>> services, std::unique_ptr<grpc::Server> server)
      : services_(std::move(services)), server_(std::move(server)) {}

  grpc::Server& server() { return *server_; }

  /// Serves a connected socket. kResourceExhausted: the user has too many.
  Status add(sys::Fd connection);

 private:
  void forgetClosed();

  const std::vector<std::unique_ptr<grpc::Service>> services_;
  const std::unique_ptr<grpc::Server> server_;
  std::vector<std::pair<int, ino_t>> connections_;  ///< gRPC's descriptors, and which sockets they were
};

}  // namespace pop::popdistd
