// SPDX-License-Identifier: Apache-2.0
// The room of a page: the part of a list that goes into one answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/status.h"

namespace pop::popdistd {

/// Clients take 4 MiB.
inline constexpr std::size_t kMostPageBytes = 1 << 20;

/// A page takes some 1 MiB, one entry at least, and at most `page_size` of them; 0: any number.
class PageRoom {
 public:
  explicit PageRoom(std::int32_t page_size) : most_(page_size) {}

  bool isFull() const { return bytes_ >= kMostPageBytes || (most_ > 0 && entries_ >= most_); }
  /// Takes the room of an entry.
  void take(std::size_t bytes) {
    bytes_ += bytes;
    ++entries_;
  }

 private:
  const std::int32_t most_;
  std::size_t bytes_ = 0;
  std::int32_t entries_ = 0;
};

/// kInvalidArgument: a number below 0.
inline Status checkPageSize(std::int32_t page_size) {
  if (page_size >= 0) return {};
  return invalidArgument("page_size is " + std::to_string(page_size) + ", and cannot be below 0");
}

}  // namespace pop::popdistd
