// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/checkpoint/snapshot.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/train/checkpoint/safetensors.h"

namespace popdist::train {
namespace {

constexpr std::size_t kLargePageBytes = std::size_t{2} << 20U;

std::size_t roundedUp(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

bool isStored(const Part& part) {
  return part.elements > 0 || part.isWhole();
}

/// Larger elements first, so that each tensor is aligned to its own; then by name.
std::vector<std::size_t> orderOf(const std::vector<Part>& parts) {
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::size_t size_a = sizeOf(parts[a].tensor.type);
    const std::size_t size_b = sizeOf(parts[b].tensor.type);
    if (size_a != size_b) return size_a > size_b;
    return std::pair(std::string_view(parts[a].tensor.name), parts[a].first) <
           std::pair(std::string_view(parts[b].tensor.name), parts[b].first);
  });
  return order;
}

}  // namespace

void Snapshot::Unmap::operator()(std::byte* memory) const {
  ::munmap(memory, bytes);
}

pop::Status Snapshot::reserve(std::size_t bytes) {
  const std::size_t wanted = roundedUp(bytes, kLargePageBytes);
  if (memory_ && memory_.get_deleter().bytes >= wanted) return {};
  memory_.reset();
  void* const memory = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return pop::Status(pop::Code::kResourceExhausted, "no memory for a copy of the state, " +
                                                          pop::sizeText(wanted) + ": " +
                                                          pop::errnoStatus("mmap", errno).message());
  }
  memory_ = Memory(static_cast<std::byte*>(memory), Unmap{wanted});
  ::madvise(memory, wanted, MADV_HUGEPAGE);  // small ones if there are none
  for (std::size_t at = 0; at < wanted; at += kFilePageBytes) memory_.get()[at] = std::byte{0};
  return {};
}

pop::Status Snapshot::layOut(std::vector<Part> given) {
  Spec entries;
  std::vector<Part> parts;
  std::vector<std::size_t> positions(given.size(), 0);
  std::size_t bytes = 0;
  for (const std::size_t which : orderOf(given)) {
    const Part& part = given[which];
    if (!isStored(part)) continue;
    entries.push_back(
        {part.key(), part.tensor.type, part.isWhole() ? part.tensor.shape : Shape{part.elements}});
    positions[which] = bytes;
    bytes += part.bytes();
    parts.push_back(part);
  }
  POP_ASSIGN_OR_RETURN(const std::string header, safetensorsHeader(entries));
  POP_RETURN_IF_ERROR(reserve(header.size() + bytes + kFilePageBytes));
  std::memcpy(memory_.get(), header.data(), header.size());
  for (std::size_t& position : positions) position += header.size();
  given_ = std::move(given);
  positions_ = std::move(positions);
  parts_ = std::move(parts);
  file_bytes_ = header.size() + bytes;
  return {};
}

pop::Status Snapshot::prepare(std::span<const Piece> pieces) {
  std::vector<Part> given;
  for (const Piece& piece : pieces) {
    POP_ASSIGN_OR_RETURN(Part part, partOf(piece));
    given.push_back(std::move(part));
  }
  if (file_bytes_ > 0 && given == given_) return {};
  file_bytes_ = 0;
  return layOut(std::move(given));
}

pop::Status Snapshot::take(std::span<const Piece> pieces) {
  POP_RETURN_IF_ERROR(prepare(pieces));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].bytes.empty())
      std::memcpy(memory_.get() + positions_[i], pieces[i].bytes.data(), pieces[i].bytes.size());
  }
  return {};
}

}  // namespace popdist::train
