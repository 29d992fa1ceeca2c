// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/shared/pieces.h"

#include <cstring>

#include "common/base/check.h"

namespace popdist::shared {

void Pieces::add(void* data, std::size_t bytes) {
  POP_CHECK(bytes > 0 && table_ == nullptr);
  data_.push_back(static_cast<std::byte*>(data));
  ends_.push_back((ends_.empty() ? 0 : ends_.back()) + bytes);
}

void Pieces::copyTo(std::byte* whole) const {
  within(0, ends_.back(), [whole](const std::byte* data, std::size_t done, std::size_t bytes) {
    std::memcpy(whole + done, data, bytes);
  });
}

void Pieces::copyFrom(const std::byte* whole) const {
  within(0, ends_.back(), [whole](std::byte* data, std::size_t done, std::size_t bytes) {
    std::memcpy(data, whole + done, bytes);
  });
}

// A table holds the number of pieces, the end of each in the vector, and the distance of each from the table,
// modulo 2^64. Distances are the same wherever a process has mapped the segment.
void Pieces::list(void* table) {
  auto* const words = static_cast<std::uint64_t*>(table);
  const std::size_t pieces = ends_.size();
  words[0] = pieces;
  for (std::size_t i = 0; i < pieces; ++i) {
    words[1 + i] = ends_[i];
    words[1 + pieces + i] =
        reinterpret_cast<std::uintptr_t>(data_[i]) - reinterpret_cast<std::uintptr_t>(table);
  }
  table_ = table;
}

std::string ListedPieces::read(int rank, std::byte* table, std::size_t room_bytes, std::size_t bytes) {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(table);
  const std::size_t pieces = *static_cast<const volatile std::uint64_t*>(words);
  const bool first = empty();
  const std::size_t most = std::min((room_bytes / sizeof(*words) - 1) / 2, bytes);
  if (pieces == 0 || pieces > most || (!first && pieces != ends_.size()))
    return "it packed " + std::to_string(pieces) + " non-empty tensors, the other ranks " +
           std::to_string(ends_.size());
  // A copy: the other instance may change its table after the checks.
  const std::vector<std::uint64_t> listed(words + 1, words + 1 + 2 * pieces);
  const std::span<const std::uint64_t> ends = std::span(listed).first(pieces);
  const std::span<const std::uint64_t> distances = std::span(listed).last(pieces);
  if (ends.back() != bytes || !std::is_sorted(ends.begin(), ends.end()))
    return "the tensors that it packed do not add up to " + std::to_string(bytes) + " bytes";
  if (first) ends_.assign(ends.begin(), ends.end());
  const auto [odd, expected] = std::mismatch(ends.begin(), ends.end(), ends_.begin());
  if (odd != ends.end())
    return "its packed tensor " + std::to_string(odd - ends.begin()) + " ends at byte " +
           std::to_string(*odd) + ", that of the other ranks at byte " + std::to_string(*expected);
  const auto index = static_cast<std::size_t>(rank);
  if (data_.size() <= index) data_.resize(index + 1);
  data_[index].resize(pieces);
  std::transform(distances.begin(), distances.end(), data_[index].begin(),
                 [table](std::uint64_t distance) { return table + distance; });
  return "";
}

}  // namespace popdist::shared
