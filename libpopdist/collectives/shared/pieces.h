// SPDX-License-Identifier: Apache-2.0
// Vectors in pieces: tensors that are reduced together but stay where they are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace popdist::shared {

/// Calls visit(piece, inside, done, bytes) for each run of the `bytes` of a vector from `offset` on: it
/// begins `inside` a piece, and `done` bytes after `offset`. `ends` are the ends of the pieces in the vector.
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

/// One rank's vector, both input and output.
class Pieces {
 public:
  /// Appends a piece of at least one byte.
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
  /// Copies the whole vector.
  void copyTo(std::byte* whole) const;
  void copyFrom(const std::byte* whole) const;

  /// For pieces in the host's segment: lists them in a table for the other ranks. Call it once, after the
  /// last add() and before the first collective. The table needs tableBytes(), must be in the segment too,
  /// and must stay unchanged while calls use it.
  void list(void* table);
  std::size_t tableBytes() const { return sizeof(std::uint64_t) * (1 + 2 * ends_.size()); }
  /// The table; nullptr if there is none.
  const void* table() const { return table_; }

 private:
  std::vector<std::byte*> data_;
  std::vector<std::size_t> ends_;
  const void* table_ = nullptr;
};

/// The vectors of a host's ranks, read from their tables. Some ranks may have theirs in one piece.
class ListedPieces {
 public:
  void clear() {
    for (std::vector<std::byte*>& data : data_) data.clear();
    ends_.clear();
  }
  bool empty() const { return ends_.empty(); }

  /// Reads a rank's table, which is followed by at most `room_bytes` in the segment and describes a vector of
  /// `bytes`. Returns what contradicts that or the tables read before, or "". Cost: about a nanosecond for a
  /// piece.
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
  std::vector<std::vector<std::byte*>> data_;  ///< pieces by rank; empty: contiguous
};

}  // namespace popdist::shared
