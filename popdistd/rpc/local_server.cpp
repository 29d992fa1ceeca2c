// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/local_server.h"

#include <grpcpp/server_posix.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

namespace pop::popdistd {

Status LocalServer::add(sys::Fd connection) {
  POP_RETURN_IF_ERROR(sys::setNonBlocking(connection.get()));
  struct stat status {};
  if (::fstat(connection.get(), &status) != 0) return errnoStatus("looking at a connection", errno);
  if (connections_.size() >= kMostConnections) forgetClosed();
  if (connections_.size() >= kMostConnections)
    return {Code::kResourceExhausted, "it has " + std::to_string(kMostConnections) +
                                          " connections by the local socket, the most of one user: close "
                                          "some, or make several calls by one"};
  connections_.emplace_back(connection.get(), status.st_ino);
  grpc::AddInsecureChannelFromFd(server_.get(), connection.release());
  return {};
}

// gRPC does not tell when it closes one.
void LocalServer::forgetClosed() {
  std::erase_if(connections_, [](const auto& each) {
    struct stat status {};
    return ::fstat(each.first, &status) != 0 || status.st_ino != each.second;
  });
}

}  // namespace pop::popdistd
