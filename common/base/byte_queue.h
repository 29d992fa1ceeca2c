// SPDX-License-Identifier: Apache-2.0
// A queue of bytes to write. It consists of pieces, each of which is freed once it is written: taking a
// little from a long queue moves nothing, and an empty queue holds no memory.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace pop {

class ByteQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  void append(std::string bytes) {
    if (bytes.empty()) return;
    size_ += bytes.size();
    if (!pieces_.empty() && pieces_.back().size() + bytes.size() <= kPieceBytes)
      pieces_.back() += bytes;
    else
      pieces_.push_back(std::move(bytes));
  }

  /// The first piece. The queue must not be empty.
  std::string_view front() const { return std::string_view(pieces_.front()).substr(taken_); }

  /// Removes the first `bytes` of front().
  void take(std::size_t bytes) {
    size_ -= bytes;
    taken_ += bytes;
    if (taken_ < pieces_.front().size()) return;
    pieces_.pop_front();
    taken_ = 0;
  }

  void clear() { *this = {}; }

 private:
  static constexpr std::size_t kPieceBytes = 64 << 10;  ///< of short ones that go together

  std::deque<std::string> pieces_;
  std::size_t taken_ = 0;  ///< of the first
  std::size_t size_ = 0;
};

}  // namespace pop
