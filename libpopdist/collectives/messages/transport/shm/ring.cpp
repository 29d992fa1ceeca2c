// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/shm/ring.h"

#include <algorithm>
#include <cstring>

#include "libpopdist/collectives/messages/transport/transport.h"

namespace popdist::transport {
namespace {

std::uint64_t alignUp(std::uint64_t position) {
  return (position + kMessageAlignmentBytes - 1) / kMessageAlignmentBytes * kMessageAlignmentBytes;
}

}  // namespace

// Positions are published with sequential consistency: the doorbell's "is the other side asleep?" that
// follows must not be answered before the position is visible.

std::size_t RingProducer::write(std::span<const std::byte> bytes, std::size_t max_in_use) {
  // After align() the position may be ahead of what is free: then nothing is.
  if (produced_ + bytes.size() > consumed_seen_ + max_in_use) {
    consumed_seen_ = header_->consumed.load(std::memory_order_seq_cst);
  }
  const std::uint64_t limit = consumed_seen_ + max_in_use;
  std::size_t count = produced_ < limit ? static_cast<std::size_t>(limit - produced_) : 0;
  count = count >= bytes.size() ? bytes.size() : count / kPartAlignmentBytes * kPartAlignmentBytes;
  if (count == 0) return 0;
  const auto start = static_cast<std::size_t>(produced_ % capacity_);
  const std::size_t first = std::min(count, capacity_ - start);
  std::memcpy(data_ + start, bytes.data(), first);
  std::memcpy(data_, bytes.data() + first, count - first);
  produced_ += count;
  header_->produced.store(produced_, std::memory_order_seq_cst);
  return count;
}

void RingProducer::align() {
  produced_ = alignUp(produced_);
}

std::span<const std::byte> RingConsumer::peek() {
  if (produced_seen_ <= consumed_) produced_seen_ = header_->produced.load(std::memory_order_seq_cst);
  if (produced_seen_ <= consumed_) return {};
  const auto start = static_cast<std::size_t>(consumed_ % capacity_);
  const auto ready = static_cast<std::size_t>(produced_seen_ - consumed_);
  return {data_ + start, std::min(ready, capacity_ - start)};
}

void RingConsumer::consume(std::size_t bytes) {
  consumed_ += bytes;
  header_->consumed.store(consumed_, std::memory_order_seq_cst);
}

void RingConsumer::align() {
  consumed_ = alignUp(consumed_);
  header_->consumed.store(consumed_, std::memory_order_seq_cst);
}

}  // namespace popdist::transport
