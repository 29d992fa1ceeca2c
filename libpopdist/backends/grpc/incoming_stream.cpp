// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/grpc/incoming_stream.h"

namespace popdist::backends {

IncomingStream::IncomingStream(Shared& shared, Inbox& inbox) : shared_(shared), inbox_(inbox) {
  inbox_.stream = this;
  StartRead(&buffer_);
}

void IncomingStream::sendReceipt(std::unique_lock<std::mutex> lock) {
  const Next todo = next();
  lock.unlock();
  act(todo);
}

void IncomingStream::OnReadDone(bool ok) {
  Next todo = Next::kNothing;
  bool goes_on = false;
  {
    const std::lock_guard lock(shared_.mutex);
    ++shared_.changes;
    goes_on = ok && store();
    read_ended_ = !goes_on;
    if (read_ended_) {
      inbox_.ended = true;
      inbox_.stream = nullptr;
    }
    todo = next();
  }
  shared_.changed.notify_all();
  act(todo);  // after it, this may be gone unless a read is to come
  if (goes_on) StartRead(&buffer_);
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

// False: nothing follows, or the member has sent more than it may.
bool IncomingStream::store() {
  if (inbox_.closed) {
    arrived_ += buffer_.Length();
    return buffer_.DumpToSingleSlice(&inbox_.last.emplace()).ok() && false;
  }
  inbox_.closed = buffer_.Length() == 0;
  std::vector<grpc::Slice> slices;
  if (!buffer_.Dump(&slices).ok()) return false;
  for (const grpc::Slice& slice : slices) {
    arrived_ += slice.size();
    if (slice.size() > 0) inbox_.slices.push_back(slice);
  }
  return arrived_ - inbox_.taken <= kMaxBytesAhead + kMaxMessageBytes;
}

// Writes one receipt at a time, with the latest counts, and ends the stream when nothing is left to write.
// Taken bytes are reported less often than arrived ones, for which the sender may be waiting.
IncomingStream::Next IncomingStream::next() {
  if (writing_ || finished_) return Next::kNothing;
  if (read_ended_) {
    finished_ = true;
    return Next::kFinish;
  }
  const Receipt receipt{.arrived = arrived_, .taken = inbox_.taken};
  if (receipt.arrived == last_sent_.arrived && receipt.taken - last_sent_.taken < kMaxMessageBytes)
    return Next::kNothing;
  last_sent_ = receipt;
  receipt_buffer_ = bufferOf(std::as_bytes(std::span(&last_sent_, 1)));
  writing_ = true;
  return Next::kWrite;
}

void IncomingStream::act(Next next) {
  if (next == Next::kWrite) StartWrite(&receipt_buffer_);
  if (next == Next::kFinish) Finish(grpc::Status::OK);
}

}  // namespace popdist::backends
