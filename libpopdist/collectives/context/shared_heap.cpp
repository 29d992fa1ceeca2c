// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/context/shared_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "common/base/check.h"

namespace popdist::context {
namespace {

// Small allocations share a piece; large ones have their own.
constexpr std::size_t kMinPieceBytes = 4 << 20;

std::size_t roundedUp(std::size_t bytes) {
  constexpr std::size_t kUnit = SharedHeap::kAlignmentBytes;
  return std::max(kUnit, (bytes + kUnit - 1) / kUnit * kUnit);
}

using Blocks = SharedHeap::Blocks;

// First fit.
std::optional<std::size_t> takeFrom(Blocks& blocks, std::size_t bytes) {
  const auto found = std::find_if(blocks.begin(), blocks.end(),
                                  [bytes](const auto& block) { return block.second >= bytes; });
  if (found == blocks.end()) return std::nullopt;
  const auto [offset, size] = *found;
  blocks.erase(found);
  if (size > bytes) blocks.emplace(offset + bytes, size - bytes);
  return offset;
}

void addTo(Blocks& blocks, std::size_t offset, std::size_t bytes) {
  auto next = blocks.lower_bound(offset);
  if (next != blocks.end() && offset + bytes == next->first) {
    bytes += next->second;
    next = blocks.erase(next);
  }
  if (next != blocks.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  blocks.emplace(offset, bytes);
}

// For a memory file the kernel reports "bad address" when it can make no more pages.
pop::Status noMemory(std::size_t bytes, int error_number) {
  const std::string what = "allocating " + std::to_string(bytes) + " bytes of shared memory";
  if (error_number != EFAULT) return pop::errnoStatus(what, error_number);
  return {pop::Code::kResourceExhausted,
          what + ": this host's memory, or the limit of the job's cgroup, is exhausted"};
}

}  // namespace

pop::Result<void*> SharedHeap::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > segment_.bytes)
    return pop::Status(pop::Code::kResourceExhausted,
                       std::to_string(bytes) + " bytes exceed the host's segment");
  POP_ASSIGN_OR_RETURN(const std::size_t offset, take(roundedUp(bytes)));
  return static_cast<void*>(segment_.base + offset);
}

void SharedHeap::free(void* memory) {
  // In a forked child the lists are useless, and another thread may have been changing them at the fork.
  if (memory == nullptr || fork_ != pop::sys::forksOfThisProcess()) return;
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(static_cast<std::size_t>(static_cast<std::byte*>(memory) - segment_.base));
  POP_CHECK(found != used_.end());
  addTo(free_, found->first, found->second);
  used_.erase(found);
}

pop::Result<std::size_t> SharedHeap::take(std::size_t bytes) {
  std::optional<std::size_t> offset = takeFrom(free_, bytes);
  if (!offset) {
    POP_RETURN_IF_ERROR(grow(bytes));
    offset = takeFrom(free_, bytes);
  }
  used_.emplace(*offset, bytes);
  return *offset;
}

// Makes the pages here, all at once: one at a time, in the middle of a collective, is ten times as slow as
// copying.
pop::Status SharedHeap::grow(std::size_t bytes) {
  const std::size_t piece = pop::contract::alignPiece(std::max(bytes, kMinPieceBytes));
  const std::optional<std::size_t> known = takeFrom(empty_, piece);
  const std::size_t offset = known ? *known : pop::contract::takePiece(segment_.header(), piece);
  if (offset == 0) {
    return {pop::Code::kResourceExhausted,
            "this host's shared-memory segment has no " + std::to_string(piece) + " bytes left" +
                (segment_.bytes < pop::contract::segmentBytesFor(1) ? " (`ulimit -v` keeps it small)" : "")};
  }
  if (::madvise(segment_.base + offset, piece, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
    pop::Status failure = noMemory(piece, errno);
    ::madvise(segment_.base + offset, piece, MADV_REMOVE);
    addTo(empty_, offset, piece);
    return failure;
  }
  addTo(free_, offset, piece);
  return {};
}

}  // namespace popdist::context
