// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/ordered_fold.h"

#include <algorithm>
#include <array>

#include "libpopdist/internal/fold.h"

namespace popdist::pod {
namespace {

// Elements that are summed in more than one pass: they stay in the first cache meanwhile.
constexpr std::size_t kPieceBytes = 8 << 10;

bool roundsEachTime(Type type) {
  return type == Type::kHalf || type == Type::kBfloat16;
}

}  // namespace

OrderedFold::OrderedFold(const Schedule& schedule)
    : schedule_(schedule),
      order_(schedule),
      scratch_((1 + static_cast<std::size_t>(order_.buffers())) * kPieceBytes),
      sources_(1 + static_cast<std::size_t>(order_.buffers())) {}

void OrderedFold::run(std::size_t count, Type type, plan::Range part, std::span<const std::byte* const> from,
                      std::span<std::byte* const> to) {
  type_ = type;
  const bool in_one_pass = order_.buffers() == 0 && !roundsEachTime(type);
  for (std::uint32_t block = 0; block < order_.blocks(); ++block) {
    plan::Range elements = overlap(elementsOf(schedule_, block, 1, count), part);
    const std::size_t most = in_one_pass ? elements.count : kPieceBytes / sizeOf(type);
    while (elements.count > 0) {
      const Piece piece{from, (elements.begin - part.begin) * sizeOf(type), std::min(most, elements.count)};
      to_.clear();
      for (std::byte* const each : to) to_.push_back(each + piece.offset_bytes);
      fold(order_.sumOf(block), piece, to_, 1);
      elements = {elements.begin + piece.count, elements.count - piece.count};
    }
  }
}

// Buffer 0 is chain()'s.
void OrderedFold::fold(const SumOrder::Sum& sum, const Piece& piece, std::span<void* const> to,
                       std::size_t free_buffer) {
  std::vector<const void*>& sources = sources_[free_buffer - 1];
  sources.clear();
  for (const SumOrder::Term& term : sum) {
    if (!term.is_sum) {
      sources.push_back(piece.from[static_cast<std::size_t>(term.index)] + piece.offset_bytes);
      continue;
    }
    void* const partial = scratch(free_buffer++);
    fold(order_.sum(term.index), piece, {&partial, 1}, free_buffer);
    sources.push_back(partial);
  }
  chain(to, sources, piece.count);
}

// One source after the other, rounded as often as a sum that travels.
void OrderedFold::chain(std::span<void* const> to, std::span<const void* const> from, std::size_t count) {
  const reduce::FoldSpec spec{.op = Operator::kSum, .type = type_};
  if (from.size() <= 2 || !roundsEachTime(type_)) return reduce::fold(spec, to, from, count);
  void* const sum = scratch(0);
  const void* so_far = from[0];
  for (std::size_t next = 1; next < from.size(); ++next) {
    const std::array<const void*, 2> terms{so_far, from[next]};
    const bool last = next + 1 == from.size();
    reduce::fold(spec, last ? to : std::span<void* const>(&sum, 1), terms, count);
    so_far = sum;
  }
}

std::byte* OrderedFold::scratch(std::size_t index) {
  return scratch_.data() + index * kPieceBytes;
}

}  // namespace popdist::pod
