// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/ordered_fold.h"

#include <algorithm>
#include <array>

#include "libpopdist/internal/fold.h"

namespace popdist::pod {
namespace {

// Elements that are summed in more than one pass: they stay in the first cache meanwhile.
constexpr std::size_t kPieceBytes = 8 << 10;

plan::Range overlap(plan::Range a, plan::Range b) {
  const std::size_t begin = std::max(a.begin, b.begin);
  const std::size_t end = std::min(a.begin + a.count, b.begin + b.count);
  return {begin, end > begin ? end - begin : 0};
}

bool roundsEachTime(Type type) {
  return type == Type::kHalf || type == Type::kBfloat16;
}

}  // namespace

OrderedFold::OrderedFold(const ReplicaLayout& layout)
    : order_(layout), scratch_((1 + order_.domains()) * kPieceBytes) {}

void OrderedFold::run(std::size_t count, Type type, plan::Range part, std::span<const std::byte* const> from,
                      std::span<std::byte* const> to) {
  type_ = type;
  const bool in_one_pass = order_.domains() == 1 && !roundsEachTime(type);
  for (std::size_t block = 0; block < order_.blocks(); ++block) {
    plan::Range elements = overlap(order_.elementsOf(block, count), part);
    const std::size_t most = in_one_pass ? elements.count : kPieceBytes / sizeOf(type);
    while (elements.count > 0) {
      const std::size_t piece = std::min(most, elements.count);
      foldPiece(order_.termsOf(block), piece, (elements.begin - part.begin) * sizeOf(type), from, to);
      elements = {elements.begin + piece, elements.count - piece};
    }
  }
}

void OrderedFold::foldPiece(const gcl::SumOrder::Terms& terms, std::size_t count, std::size_t at,
                            std::span<const std::byte* const> from, std::span<std::byte* const> to) {
  to_.clear();
  for (std::byte* const each : to) to_.push_back(each + at);
  sums_.clear();
  for (const std::vector<int>& domain : terms) {
    sources_.clear();
    for (const int replica : domain) sources_.push_back(from[static_cast<std::size_t>(replica)] + at);
    if (terms.size() == 1) return chain(to_, sources_, count);
    void* const sum = scratch(1 + sums_.size());
    chain({&sum, 1}, sources_, count);
    sums_.push_back(sum);
  }
  chain(to_, sums_, count);
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
