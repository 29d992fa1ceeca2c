// SPDX-License-Identifier: Apache-2.0
// Connects members by gRPC: each one serves, and dials another member when it first sends to it. Each
// member's address carries a secret of its own; a stream that does not present it is refused.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "libpopdist/backends/fabric/fabric.h"
#include "libpopdist/backends/grpc/incoming_stream.h"

namespace popdist::backends {

class GrpcFabric final : public Fabric, private grpc::CallbackGenericService {
 public:
  static pop::Result<std::unique_ptr<Fabric>> create(const PopdistGroupInfo& info);
  ~GrpcFabric() override;

  std::string address() const override;
  pop::Status connect(const std::vector<std::string>& addresses) override;
  std::size_t trySend(int to, std::span<const std::byte> first, std::span<const std::byte> second) override;
  std::span<const std::byte> tryReceive(int from) override;
  void release(int from, std::size_t bytes) override;
  bool isDelivered(int to) override;
  pop::Status failure(int peer) override;
  std::span<const std::byte> lastOf(int peer) override;
  void wait(std::chrono::milliseconds timeout) override;
  void close(int to, std::span<const std::byte> last) override;

 private:
  explicit GrpcFabric(const PopdistGroupInfo& info);
  pop::Status listen();
  OutgoingStream& streamTo(int rank);
  Inbox& inboxOf(int rank) { return inboxes_[static_cast<std::size_t>(rank)]; }
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override;

  const PopdistGroupInfo& info_;
  std::string secret_;
  std::string target_;
  std::vector<std::string> addresses_;
  Shared shared_;
  std::uint64_t seen_ = 0;
  std::vector<Inbox> inboxes_;
  std::vector<std::size_t> released_;  ///< bytes used of each inbox's first slice
  std::vector<std::unique_ptr<OutgoingStream>> streams_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace popdist::backends
