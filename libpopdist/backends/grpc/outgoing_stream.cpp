// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/grpc/outgoing_stream.h"

#include <utility>

namespace popdist::backends {
namespace {

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

std::size_t OutgoingStream::trySend(std::span<const std::byte> first, std::span<const std::byte> second) {
  first = first.first(std::min(first.size(), kMaxMessageBytes));
  second = second.first(std::min(second.size(), kMaxMessageBytes - first.size()));
  const std::size_t bytes = first.size() + second.size();
  {
    const std::lock_guard lock(shared_.mutex);
    if (ended_ || sent_ - receipt_.taken + bytes > kMaxBytesAhead) return 0;
    sent_ += bytes;
  }
  send(bufferOf(first, second));
  return bytes;
}

void OutgoingStream::close(std::span<const std::byte> last) {
  {
    const std::lock_guard lock(shared_.mutex);
    if (ended_ || closed_) return;
    sent_ += last.size();
  }
  send(bufferOf({}));
  send(bufferOf(last));
  bool idle = false;
  {
    const std::lock_guard lock(shared_.mutex);
    closed_ = true;
    idle = queue_.empty() && !ended_;
  }
  if (idle) StartWritesDone();
}

// gRPC may call back from inside StartWrite, so no lock is held there.
void OutgoingStream::send(grpc::ByteBuffer buffer) {
  const grpc::ByteBuffer* first = nullptr;
  {
    const std::lock_guard lock(shared_.mutex);
    if (ended_) return;
    queue_.push_back(std::move(buffer));
    if (queue_.size() == 1) first = &queue_.front();
  }
  if (first != nullptr) StartWrite(first);
}

bool OutgoingStream::allArrived() const {
  const std::lock_guard lock(shared_.mutex);
  return ended_ || receipt_.arrived == sent_;
}

bool OutgoingStream::isBroken() const {
  const std::lock_guard lock(shared_.mutex);
  return ended_;
}

void OutgoingStream::OnWriteDone(bool ok) {
  const grpc::ByteBuffer* next = nullptr;
  bool is_last = false;
  {
    const std::lock_guard lock(shared_.mutex);
    ++shared_.changes;
    queue_.pop_front();
    if (!ok) ended_ = true;
    if (ended_) queue_.clear();
    if (!queue_.empty()) next = &queue_.front();
    is_last = closed_ && !ended_ && queue_.empty();
  }
  shared_.changed.notify_all();
  if (next != nullptr) StartWrite(next);
  if (is_last) StartWritesDone();
}

void OutgoingStream::OnReadDone(bool ok) {
  const std::optional<Receipt> receipt = ok ? receiptIn(receipt_buffer_) : std::nullopt;
  {
    const std::lock_guard lock(shared_.mutex);
    ++shared_.changes;
    receipt_ = receipt.value_or(receipt_);
    ended_ = ended_ || !receipt;
  }
  shared_.changed.notify_all();
  if (receipt) StartRead(&receipt_buffer_);
}

void OutgoingStream::OnDone(const grpc::Status&) {
  const std::lock_guard lock(shared_.mutex);
  ++shared_.changes;
  ended_ = true;
  done_ = true;
  shared_.changed.notify_all();  // under the lock: the destructor waits for it
}

}  // namespace popdist::backends
