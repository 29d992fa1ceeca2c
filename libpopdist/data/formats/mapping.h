// SPDX-License-Identifier: Apache-2.0
// A file in memory, of which another process may take bytes away: it makes the file shorter, or its disk
// fails. A touch of such bytes raises SIGBUS. Here they become zeros instead, and the mapping says so.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "common/base/status.h"
#include "libpopdist/data/formats/file_state.h"

namespace popdist::io {

class Mapping {
 public:
  /// `file` is open, in the state `state`, and has bytes.
  static pop::Result<std::unique_ptr<Mapping>> of(int file, const FileState& state);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

  /// Call it after bytes were read and before they are believed. kDataLoss: some were not there.
  pop::Status checkRead(const FileState& state) const {
    return place_->lost.load(std::memory_order_relaxed) ? hasLost(state) : pop::Status();
  }
  /// The same for formats without checksums. kDataLoss also: the file was written to since it was opened, as
  /// its size and time of writing say, at which a look is taken every 25 us.
  pop::Status checkUnchanged(const FileState& state) const;

  /// The mapping's bounds for the handler of SIGBUS. Places are used again, and never freed.
  struct Place {
    std::atomic<std::uintptr_t> begin{0};  ///< 0: of no mapping
    std::atomic<std::uintptr_t> end{0};
    std::atomic<bool> lost{false};
    Place* next = nullptr;
  };

 private:
  Mapping(std::span<const std::byte> bytes, Place* place) : bytes_(bytes), place_(place) {}
  static pop::Status hasLost(const FileState& state);

  std::span<const std::byte> bytes_;
  Place* place_;
  mutable std::atomic<std::int64_t> next_look_ns_{0};
};

}  // namespace popdist::io
