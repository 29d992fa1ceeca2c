// SPDX-License-Identifier: Apache-2.0
// Bytes from one other member, and the stream they arrive on: bytes come in, receipts go back.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <deque>

#include "libpopdist/backends/grpc/outgoing_stream.h"

namespace popdist::backends {

class IncomingStream;

/// Under Shared::mutex.
struct Inbox {
  std::deque<grpc::Slice> slices;
  std::uint64_t taken = 0;
  bool closed = false;               ///< the next message is the last
  std::optional<grpc::Slice> last;   ///< the last message, with which the member closed the stream
  bool ended = false;                ///< the stream was there and has ended
  IncomingStream* stream = nullptr;  ///< that receipts go to; at most one in the inbox's life
};

/// Deletes itself when gRPC has finished with it.
class IncomingStream final : public grpc::ServerGenericBidiReactor {
 public:
  IncomingStream(Shared& shared, Inbox& inbox);

  /// Tells the sender what the inbox has taken. `lock` holds Shared::mutex and is released.
  void sendReceipt(std::unique_lock<std::mutex> lock);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone() override { delete this; }

 private:
  enum class Next : std::uint8_t { kNothing, kWrite, kFinish };
  Next next();
  void act(Next next);
  bool store();

  Shared& shared_;
  Inbox& inbox_;
  grpc::ByteBuffer buffer_;
  grpc::ByteBuffer receipt_buffer_;
  // under Shared::mutex
  std::uint64_t arrived_ = 0;
  Receipt last_sent_;
  bool writing_ = false;
  bool read_ended_ = false;
  bool finished_ = false;
};

}  // namespace popdist::backends
