// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/grpc/outgoing_stream.h"

#include <utility>

namespace popdist::backends {
namespace {

constexpr std::uint64_t kMostFramesAhead = 8;

std::shared_ptr<grpc::Channel> dial(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

OutgoingStream::OutgoingStream(Shared& shared, const std::string& target, const std::string& secret, int rank)
    : shared_(shared), channel_(dial(target)), stub_(channel_) {
  context_.AddMetadata(kSecretName, secret);
  context_.AddMetadata(kRankName, std::to_string(rank));
  stub_.PrepareBidiStreamingCall(&context_, kMethod, {}, this);
  AddHold();  // writes are started from outside of gRPC's own calls
  StartRead(&receipt_buffer_);
  StartCall();
}

OutgoingStream::~OutgoingStream() {
  context_.TryCancel();
  RemoveHold();
  std::unique_lock lock(shared_.mutex);
  shared_.changed.wait(lock, [this] { return done_; });
}

bool OutgoingStream::trySend(const Frame& frame) {
  std::unique_lock lock(shared_.mutex);
  if (ended_ || sent_ - receipt_.taken >= kMostFramesAhead) return false;
  enqueue(std::move(lock), frame);
  return true;
}

void OutgoingStream::send(const Frame& frame) {
  std::unique_lock lock(shared_.mutex);
  if (!ended_) enqueue(std::move(lock), frame);
}

// gRPC may call back from inside of StartWrite, so no lock is held there.
void OutgoingStream::enqueue(std::unique_lock<std::mutex> lock, const Frame& frame) {
  ++sent_;
  queue_.push_back(bufferOf(frame));
  if (queue_.size() > 1) return;
  const grpc::ByteBuffer* const first = &queue_.front();
  lock.unlock();
  StartWrite(first);
}

bool OutgoingStream::allArrived() const {
  const std::lock_guard lock(shared_.mutex);
  return ended_ || receipt_.arrived == sent_;
}

std::string OutgoingStream::broken() const {
  const std::lock_guard lock(shared_.mutex);
  return ended_ ? "the stream to it has ended" : "";
}

void OutgoingStream::OnWriteDone(bool ok) {
  const grpc::ByteBuffer* next = nullptr;
  {
    const std::lock_guard lock(shared_.mutex);
    ++shared_.changes;
    queue_.pop_front();
    if (!ok) ended_ = true;
    if (ended_)
      queue_.clear();
    else if (!queue_.empty())
      next = &queue_.front();
  }
  shared_.changed.notify_all();
  if (next != nullptr) StartWrite(next);
}

void OutgoingStream::OnReadDone(bool ok) {
  const std::optional<grpc::Slice> slice =
      ok ? sliceOf(receipt_buffer_, sizeof(Receipt)) : std::optional<grpc::Slice>();
  {
    const std::lock_guard lock(shared_.mutex);
    ++shared_.changes;
    if (slice)
      std::memcpy(&receipt_, slice->begin(), sizeof(receipt_));
    else
      ended_ = true;
  }
  shared_.changed.notify_all();
  if (slice) StartRead(&receipt_buffer_);
}

void OutgoingStream::OnDone(const grpc::Status&) {
  const std::lock_guard lock(shared_.mutex);
  ++shared_.changes;
  ended_ = true;
  done_ = true;
  shared_.changed.notify_all();  // under the lock: the destructor waits for it
}

}  // namespace popdist::backends
