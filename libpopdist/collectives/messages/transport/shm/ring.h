// SPDX-License-Identifier: Apache-2.0
// A byte ring in shared memory with one producer and one consumer, in different threads or processes.
// All-zero memory is an empty ring, so a fresh piece of the segment needs no set-up and no handshake.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace popdist::transport {

/// The two positions count bytes since the start and never wrap; each is written by one side only, and lies
/// on a cache line of that side.
struct RingHeader {
  alignas(64) std::atomic<std::uint64_t> produced{0};
  std::atomic<std::uint32_t> over{0};  ///< 1: nothing more will be produced
  alignas(64) std::atomic<std::uint64_t> consumed{0};
};

/// One side's view of a ring. `capacity` is a power of two and a multiple of kMessageAlignmentBytes. `kept`
/// bytes of it, also a multiple, are reserved for writeLast().
class RingProducer {
 public:
  RingProducer() = default;
  RingProducer(RingHeader* header, std::byte* data, std::size_t capacity, std::size_t kept = 0)
      : header_(header), data_(data), capacity_(capacity), kept_(kept) {}

  /// Copies up to all of `bytes` in; what does not fit is cut at a multiple of kPartAlignmentBytes.
  std::size_t tryWrite(std::span<const std::byte> bytes) { return write(bytes, capacity_ - kept_); }
  /// Writes the last message. There is always room for it, however much has not been consumed.
  std::size_t writeLast(std::span<const std::byte> bytes) { return write(bytes, capacity_); }
  /// Moves on to the next multiple of kMessageAlignmentBytes.
  void align();
  /// Nothing more will be written.
  void close() { header_->over.store(1, std::memory_order_seq_cst); }

 private:
  std::size_t write(std::span<const std::byte> bytes, std::size_t max_in_use);

  RingHeader* header_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t kept_ = 0;
  std::uint64_t produced_ = 0;
  std::uint64_t consumed_seen_ = 0;  ///< the other side's position when last looked at: saves its cache line
};

class RingConsumer {
 public:
  RingConsumer() = default;
  RingConsumer(RingHeader* header, const std::byte* data, std::size_t capacity)
      : header_(header), data_(data), capacity_(capacity) {}

  /// The data that can be read in one piece.
  std::span<const std::byte> peek();
  void consume(std::size_t bytes);
  void align();
  /// The producer has closed the ring. Data written before can still be read.
  bool isClosed() const { return header_->over.load(std::memory_order_seq_cst) != 0; }

 private:
  RingHeader* header_ = nullptr;
  const std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t produced_seen_ = 0;
};

}  // namespace popdist::transport
