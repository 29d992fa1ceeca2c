// SPDX-License-Identifier: Apache-2.0
// Pieces of a host's segment that several ranks use, and that are used again when all of them have done so.
// Behind each piece is the number of its users that are left; the instance that has taken a piece from the
// segment looks at it when it needs another one. So no instance waits, and one that was killed loses at most
// the pieces that it used.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "common/sys/forks.h"

namespace popdist::transport {

struct SegmentView;

/// The pieces that this instance has taken. Any thread.
class LentPieces {
 public:
  /// The offset of `bytes` zeros for so many users, or 0 if the segment is full.
  std::size_t take(const SegmentView& segment, std::size_t bytes, int users);

 private:
  struct Piece {
    std::size_t offset;
    std::size_t bytes;
  };

  std::mutex mutex_;
  std::vector<Piece> pieces_;
};

/// One user's part, or that of several, of a piece that some instance has taken.
class PieceUse {
 public:
  PieceUse() = default;
  /// The piece lies within the segment.
  PieceUse(const SegmentView& segment, std::size_t offset, std::size_t bytes, int users = 1);
  /// Gives it back; the child of a fork has none.
  ~PieceUse();
  PieceUse(PieceUse&& other) noexcept;
  PieceUse& operator=(PieceUse&& other) noexcept;

  /// Size of a piece of `bytes` together with its number of users.
  static std::size_t bytesWithUsers(std::size_t bytes);

 private:
  std::atomic<int>* left_ = nullptr;
  int users_ = 0;
  unsigned fork_ = 0;
};

}  // namespace popdist::transport
