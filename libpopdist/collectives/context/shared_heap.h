// SPDX-License-Identifier: Apache-2.0
// An instance's part of the host's shared heap: takes pieces of the segment and hands out parts of them. The
// list of free parts is private to the instance and not in the segment.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "common/base/status.h"
#include "common/sys/forks.h"
#include "libpopdist/collectives/messages/transport/shm/shm_group.h"

namespace popdist::context {

class SharedHeap {
 public:
  explicit SharedHeap(transport::SegmentView segment) : segment_(segment) {}

  /// Allocates at least `bytes`, aligned to kAlignmentBytes, with all pages present. kResourceExhausted.
  pop::Result<void*> allocate(std::size_t bytes);
  void free(void* memory);

  /// True if `memory` is shared by this host's instances.
  bool contains(const void* memory) const { return segment_.offsetOf(memory) != transport::kPrivate; }

  static constexpr std::size_t kAlignmentBytes = 64;
  using Blocks = std::map<std::size_t, std::size_t>;  ///< offset → bytes

 private:
  pop::Result<std::size_t> take(std::size_t bytes);
  pop::Status grow(std::size_t bytes);

  const transport::SegmentView segment_;
  const unsigned fork_ = pop::sys::forksOfThisProcess();
  std::mutex mutex_;
  Blocks free_;   ///< no two touch
  Blocks empty_;  ///< likewise, without pages: the host had no memory for them
  Blocks used_;
};

}  // namespace popdist::context
