// SPDX-License-Identifier: Apache-2.0
#include "popctl/rpc/partition_hold.h"

#include <grpcpp/client_context.h>

#include <utility>

#include "popctl/rpc/connection.h"
#include "popctl/rpc/reconnects.h"
#include "proto/popdist/v1/pods.grpc.pb.h"

namespace pop::popctl {

class PartitionHold::Stream {
 public:
  grpc::ClientContext context;
};

PartitionHold::PartitionHold(PodsClient& client, v1::HoldRequest request)
    : client_(client), request_(std::move(request)), thread_([this] { run(); }) {}

PartitionHold::~PartitionHold() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    lost_ = nullptr;
    if (stream_ != nullptr) stream_->context.TryCancel();
    changed_.notify_all();
  }
  thread_.join();
}

Status PartitionHold::waitUntilHeld() {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, client_.timeout(), [this] { return held_ || end_; }))
    return {Code::kDeadlineExceeded,
            "no answer from " + client_.server().address + " within " + client_.server().timeout_option};
  return held_ ? Status() : *end_;
}

void PartitionHold::onLost(std::function<void(const Status& why)> lost) {
  const std::scoped_lock lock(mutex_);
  if (end_ && !stopping_) return lost(*end_);
  lost_ = std::move(lost);
}

Status PartitionHold::readOnce(bool& received) {
  Stream stream;
  {
    const std::scoped_lock lock(mutex_);
    if (stopping_) return {Code::kCancelled, "let go"};
    stream_ = &stream;
  }
  const std::unique_ptr<v1::Pods::Stub> stub = v1::Pods::NewStub(client_.connection().channel);
  const auto reader = stub->HoldPartition(&stream.context, request_);
  v1::HoldReply reply;
  while (reader->Read(&reply)) {
    received = true;
    const std::scoped_lock lock(mutex_);
    held_ = true;
    changed_.notify_all();
  }
  const grpc::Status end = reader->Finish();
  const std::scoped_lock lock(mutex_);
  stream_ = nullptr;
  if (end.error_code() == grpc::StatusCode::UNIMPLEMENTED) return {Code::kUnimplemented, "no such call"};
  if (end.ok()) return unavailable("the server has ended it");
  return streamEnd(end, client_.server());
}

bool PartitionHold::pause() {
  client_.waitForNextAttempt();
  const std::scoped_lock lock(mutex_);
  return !stopping_;
}

// A caller that never had it is told why at once.
bool PartitionHold::isHeld() {
  const std::scoped_lock lock(mutex_);
  return held_ && !stopping_;
}

void PartitionHold::run() {
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_held{};
  Status how;
  do {
    bool received = false;
    how = readOnce(received);
    if (received) last_held = Clock::now();
  } while (isHeld() && isLost(how) && Clock::now() - last_held < client_.server().reconnect && pause());
  const std::scoped_lock lock(mutex_);
  end_ = how;
  changed_.notify_all();
  if (lost_ && !stopping_) lost_(how);
}

}  // namespace pop::popctl
