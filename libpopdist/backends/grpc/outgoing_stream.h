// SPDX-License-Identifier: Apache-2.0
// The stream to one other member: bytes go out, receipts come back. Writes follow each other on gRPC's
// threads.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>

#include "libpopdist/backends/grpc/byte_buffer.h"

namespace popdist::backends {

/// State that the caller's thread and gRPC's threads share.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t changes = 0;  ///< under the mutex
};

class OutgoingStream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  /// Dials `target`. `shared` must outlive the stream.
  OutgoingStream(Shared& shared, const std::string& target, const std::string& secret, int rank);
  /// Cancels the stream.
  ~OutgoingStream() override;

  /// Sends a copy of as much as one message carries. 0: the receiver is too far behind, or the stream is
  /// broken.
  std::size_t trySend(std::span<const std::byte> first, std::span<const std::byte> second);
  /// Sends the last message whatever the receiver has taken, after an empty one. Nothing may follow.
  void close(std::span<const std::byte> last);
  /// True if everything has arrived, or never will.
  bool allArrived() const;
  bool isBroken() const;

  void OnWriteDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  void send(grpc::ByteBuffer buffer);

  Shared& shared_;
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer receipt_buffer_;
  // under Shared::mutex
  std::deque<grpc::ByteBuffer> queue_;  ///< the first one is being written
  std::uint64_t sent_ = 0;
  Receipt receipt_;
  bool closed_ = false;
  bool ended_ = false;
  bool done_ = false;
};

}  // namespace popdist::backends
