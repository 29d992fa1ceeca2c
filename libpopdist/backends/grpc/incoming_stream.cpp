// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/grpc/incoming_stream.h"

namespace popdist::backends {

IncomingStream::IncomingStream(Shared& shared, Inbox& inbox) : shared_(shared), inbox_(inbox) {
  inbox_.stream = this;
  StartRead(&frame_buffer_);
}

void IncomingStream::sendReceipt(std::unique_lock<std::mutex> lock) {
  const Next todo = next();
  lock.unlock();
  act(todo);
}

void IncomingStream::OnReadDone(bool ok) {
  const std::optional<grpc::Slice> slice =
      ok ? sliceOf(frame_buffer_, sizeof(FrameHead)) : std::optional<grpc::Slice>();
  Next todo = Next::kNothing;
  bool goes_on = false;
  {
    const std::lock_guard lock(shared_.mutex);
    ++shared_.changes;
    goes_on = slice && store(*slice);
    read_ended_ = !goes_on;
    if (read_ended_) {
      inbox_.ended = true;
      inbox_.stream = nullptr;
    }
    todo = next();
  }
  shared_.changed.notify_all();
  act(todo);  // after it, this may be gone unless a read is to come
  if (goes_on) StartRead(&frame_buffer_);
}

void IncomingStream::OnWriteDone(bool) {
  Next todo = Next::kNothing;
  {
    const std::lock_guard lock(shared_.mutex);
    writing_ = false;
    todo = next();
  }
  act(todo);
}

// False: this is not a frame.
bool IncomingStream::store(const grpc::Slice& slice) {
  ++arrived_;
  const Frame frame = frameIn(slice);
  if (frame.head.key != kNoteKey) {
    if (frame.payload.size() > kMostPayloadBytes) return false;
    inbox_.frames.push_back(slice);
    return true;
  }
  if (frame.payload.size() > kMostNoteBytes) return false;
  inbox_.notes.emplace_back(frame.payload.begin(), frame.payload.end());
  return true;
}

// One write at a time, each with the latest counts; the end when nothing is under way.
IncomingStream::Next IncomingStream::next() {
  if (writing_ || finished_) return Next::kNothing;
  if (read_ended_) {
    finished_ = true;
    return Next::kFinish;
  }
  const Receipt receipt{.arrived = arrived_, .taken = inbox_.taken};
  if (receipt.arrived == told_.arrived && receipt.taken == told_.taken) return Next::kNothing;
  told_ = receipt;
  receipt_buffer_ = bufferOf(receipt);
  writing_ = true;
  return Next::kWrite;
}

void IncomingStream::act(Next next) {
  if (next == Next::kWrite) StartWrite(&receipt_buffer_);
  if (next == Next::kFinish) Finish(grpc::Status::OK);
}

}  // namespace popdist::backends
