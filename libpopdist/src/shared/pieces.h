// SPDX-License-Identifier: Apache-2.0
// Vectors that lie in pieces: tensors that are reduced together, each where it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace popdist::shared {

/// Calls visit(piece, inside, done, bytes) for each run of the `bytes` of a vector from `offset` on: it
/// begins `inside` a piece, and `done` bytes after `offset`. `ends`: of the pieces, in the vector.
template <typename Visit>
void forEachRun(std::span<const std::size_t> ends, std::size_t offset, std::size_t bytes,
                const Visit& visit) {
  auto piece = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), offset) - ends.begin());
  for (std::size_t done = 0; done < bytes; ++piece) {
    const std::size_t at = offset + done;
    const std::size_t begin = piece == 0 ? 0 : ends[piece - 1];
    const std::size_t run = std::min(bytes - done, ends[piece] - at);
    visit(piece, at - begin, done, run);
    done += run;
  }
}

/// One rank's vector, which is input and output.
class Pieces {
 public:
  /// Behind the others; at least a byte.
  void add(void* data, std::size_t bytes);

  bool empty() const { return ends_.empty(); }
  std::byte* front() const { return data_.front(); }

  /// Calls visit(data, done, bytes) for each run of memory.
  template <typename Visit>
  void within(std::size_t offset, std::size_t bytes, const Visit& visit) const {
    forEachRun(ends_, offset, bytes,
               [&](std::size_t piece, std::size_t inside, std::size_t done, std::size_t run) {
                 visit(data_[piece] + inside, done, run);
               });
  }
  /// All of it.
  void copyTo(std::byte* whole) const;
  void copyFrom(const std::byte* whole) const;

  /// Where all pieces lie in the host's segment: lists them in a table for the other ranks, once all are
  /// there and before the first call. The table, of tableBytes(), lies there, too, and stays as it is until
  /// no call uses it any more.
  void list(void* table);
  std::size_t tableBytes() const { return sizeof(std::uint64_t) * (1 + 2 * ends_.size()); }
  /// nullptr: not listed.
  const void* table() const { return table_; }

 private:
  std::vector<std::byte*> data_;
  std::vector<std::size_t> ends_;
  const void* table_ = nullptr;
};

/// The vectors of a host's ranks, from their tables. Other ranks have theirs in one piece.
class ListedPieces {
 public:
  void clear() {
    for (std::vector<std::byte*>& data : data_) data.clear();
    ends_.clear();
  }
  bool empty() const { return ends_.empty(); }

  /// A rank's table, in the segment, where no more than `room_bytes` follow, of a vector of `bytes`. What
  /// contradicts that, or those that were read before, or else "". Cost: about a nanosecond for a piece.
  std::string read(int rank, std::byte* table, std::size_t room_bytes, std::size_t bytes);

  /// As forEachRun().
  template <typename Visit>
  void within(std::size_t offset, std::size_t bytes, const Visit& visit) const {
    forEachRun(ends_, offset, bytes, visit);
  }
  /// nullptr: the rank's vector is in one piece.
  std::byte* data(int rank, std::size_t piece) const {
    const auto index = static_cast<std::size_t>(rank);
    return index < data_.size() && !data_[index].empty() ? data_[index][piece] : nullptr;
  }

 private:
  std::vector<std::size_t> ends_;
  std::vector<std::vector<std::byte*>> data_;  ///< of each rank, its pieces; empty: it has none
};

}  // namespace popdist::shared
