// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/shm/lent_pieces.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "libpopdist/collectives/messages/transport/shm/shm_group.h"

namespace popdist::transport {
namespace {

constexpr std::size_t kCacheLineBytes = 64;

std::size_t placeOfUsers(std::size_t bytes) {
  return (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}

std::atomic<int>& usersOf(const SegmentView& segment, std::size_t offset, std::size_t bytes) {
  return *reinterpret_cast<std::atomic<int>*>(segment.base + offset + placeOfUsers(bytes));
}

/// Its pages go back to the system.
void clear(const SegmentView& segment, std::size_t offset, std::size_t bytes) {
  const std::size_t whole = pop::contract::alignPiece(bytes);
  if (::madvise(segment.base + offset, whole, MADV_REMOVE) != 0) std::memset(segment.base + offset, 0, bytes);
}

}  // namespace

std::size_t PieceUse::bytesWithUsers(std::size_t bytes) {
  return placeOfUsers(bytes) + kCacheLineBytes;
}

std::size_t LentPieces::take(const SegmentView& segment, std::size_t bytes, int users) {
  const std::scoped_lock lock(mutex_);
  const auto unused = std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
    return piece.bytes == bytes && usersOf(segment, piece.offset, bytes).load(std::memory_order_acquire) == 0;
  });
  std::size_t offset = 0;
  if (unused != pieces_.end()) {
    offset = unused->offset;
    clear(segment, offset, PieceUse::bytesWithUsers(bytes));
  } else {
    offset = pop::contract::takePiece(segment.header(), PieceUse::bytesWithUsers(bytes));
    if (offset == 0) return 0;
    pieces_.push_back({offset, bytes});
  }
  usersOf(segment, offset, bytes).store(users, std::memory_order_release);
  return offset;
}

PieceUse::PieceUse(const SegmentView& segment, std::size_t offset, std::size_t bytes, int users)
    : left_(&usersOf(segment, offset, bytes)), users_(users), fork_(pop::sys::forksOfThisProcess()) {}

PieceUse::~PieceUse() {
  if (left_ != nullptr && fork_ == pop::sys::forksOfThisProcess())
    left_->fetch_sub(users_, std::memory_order_acq_rel);
}

PieceUse::PieceUse(PieceUse&& other) noexcept
    : left_(std::exchange(other.left_, nullptr)), users_(other.users_), fork_(other.fork_) {}

PieceUse& PieceUse::operator=(PieceUse&& other) noexcept {
  std::swap(left_, other.left_);
  std::swap(users_, other.users_);
  std::swap(fork_, other.fork_);
  return *this;
}

}  // namespace popdist::transport
