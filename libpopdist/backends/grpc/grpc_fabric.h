// SPDX-License-Identifier: Apache-2.0
// Members connected by gRPC: each serves, and dials the members that it sends to when it first does.
// Addresses carry a secret of each member; a stream that does not show the secret of the member that it dials
// is refused.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "libpopdist/backends/grpc/incoming_stream.h"

namespace popdist::backends {

class GrpcFabric final : public Fabric, private grpc::CallbackGenericService {
 public:
  static pop::Result<std::unique_ptr<Fabric>> create(const PopdistGroupInfo& info);
  ~GrpcFabric() override;

  std::string address() const override;
  pop::Status connect(const std::vector<std::string>& addresses, Deadline deadline) override;
  bool trySend(int to, const Frame& frame) override;
  std::optional<Frame> front(int from) override;
  void pop(int from) override;
  bool allSent() override;
  void wait() override;
  std::string broken(int peer) override;
  void tell(std::span<const std::byte> note) override;
  std::optional<std::vector<std::byte>> nextNote() override;

 private:
  explicit GrpcFabric(const PopdistGroupInfo& info);
  pop::Status listen();
  OutgoingStream& streamTo(int rank);
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override;

  const PopdistGroupInfo& info_;
  std::string secret_;
  std::string target_;
  std::vector<std::string> addresses_;
  Shared shared_;
  std::uint64_t seen_ = 0;
  std::vector<Inbox> inboxes_;
  std::vector<std::unique_ptr<OutgoingStream>> streams_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace popdist::backends
