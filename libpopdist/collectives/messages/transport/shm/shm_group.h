// SPDX-License-Identifier: Apache-2.0
// The connections of a group of ranks through a host's shared segment. A process may hold several ranks (its
// replicas).
//
// Each rank takes a piece of the segment with one incoming ring from every rank and tells the others its
// offset; a connection then is a pair of rings, one in each other's piece. Only rings that are used cost
// memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/contract/segment.h"
#include "libpopdist/collectives/messages/transport/shm/doorbell.h"
#include "libpopdist/collectives/messages/transport/shm/lent_pieces.h"
#include "libpopdist/collectives/messages/transport/transport.h"

namespace popdist::transport {

/// The offset of memory that is not in the segment.
inline constexpr std::uint64_t kPrivate = ~std::uint64_t{0};

/// The segment as this process has mapped it.
struct SegmentView {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  LentPieces* lent = nullptr;  ///< this instance's; nullptr: pieces are taken for ever
  /// The offset of `memory` in the segment, or kPrivate.
  std::uint64_t offsetOf(const void* memory) const {
    const auto* const address = static_cast<const std::byte*>(memory);
    const bool inside = address >= base && address < base + bytes;
    return inside ? static_cast<std::uint64_t>(address - base) : kPrivate;
  }
  pop::contract::SegmentHeader* header() const {
    return reinterpret_cast<pop::contract::SegmentHeader*>(base);
  }
  /// As LentPieces::take.
  std::size_t takeFor(int users, std::size_t piece_bytes) const {
    return lent != nullptr ? lent->take(*this, piece_bytes, users)
                           : pop::contract::takePiece(header(), PieceUse::bytesWithUsers(piece_bytes));
  }
  /// True if a piece for users lies in the segment.
  bool hasPiece(std::size_t offset, std::size_t piece_bytes) const {
    const std::size_t whole = PieceUse::bytesWithUsers(piece_bytes);
    return offset % pop::contract::kPieceAlignmentBytes == 0 && whole <= bytes && offset <= bytes - whole;
  }
};

class ShmGroup {
 public:
  /// Takes the pieces for `local_ranks` of `ranks`. kResourceExhausted when the segment is full.
  static pop::Result<std::unique_ptr<ShmGroup>> create(SegmentView segment, int ranks,
                                                       std::span<const int> local_ranks);
  ~ShmGroup();

  /// The address at which others reach local rank `rank`; short text.
  std::string address(int rank) const;

  /// `addresses[r]` is the address of rank r, for all ranks of the group. Once, before any endpoint is used.
  pop::Status connect(std::span<const std::string> addresses);

  Endpoint& endpoint(int local_rank);
  Sleeper& sleeper() { return sleeper_; }
  Doorbell* doorbell() const { return reinterpret_cast<Doorbell*>(segment_.base + doorbell_offset_); }

 private:
  class Link;
  class Local;

  ShmGroup(SegmentView segment, int ranks, std::size_t ring_bytes, std::vector<std::size_t> pieces);

  SegmentView segment_;
  const int ranks_;
  const std::size_t ring_bytes_;
  const std::size_t doorbell_offset_;
  DoorbellSleeper sleeper_;
  std::vector<PieceUse> uses_;                  ///< those of all ranks' pieces, once connected
  std::vector<std::unique_ptr<Local>> locals_;  ///< one per local rank
};

}  // namespace popdist::transport
