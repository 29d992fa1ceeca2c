// SPDX-License-Identifier: Apache-2.0
// Makes pieces out of tensors, and of pieces the share of one member.
#include <algorithm>

#include "libpopdist/data/tensor/error_edge.h"
#include "popdist/checkpoint.hpp"

namespace popdist::train {

Piece Piece::of(Tensor& tensor) {
  const TensorSpec& spec = tensor.spec();
  return {.name = spec.name, .type = spec.type, .shape = spec.shape, .first = 0, .bytes = tensor.bytes()};
}

std::vector<Piece> Piece::of(Tensors& tensors) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < tensors.size(); ++i) pieces.push_back(of(tensors.at(i)));
  return pieces;
}

std::vector<Piece> shareOf(std::span<const Piece> pieces, int index, int count) {
  if (index < 0 || index >= count) {
    throwIfError(
        pop::invalidArgument("there is no member " + std::to_string(index) + " of " + std::to_string(count)),
        "shareOf");
  }
  std::size_t total = 0;
  for (const Piece& piece : pieces) total += piece.bytes.size();
  const auto cut = [&](int member) {  // without an overflow: at most `count` bytes more in the last share
    return total / static_cast<std::size_t>(count) * static_cast<std::size_t>(member) +
           std::min(total % static_cast<std::size_t>(count), static_cast<std::size_t>(member));
  };
  std::vector<Piece> share;
  std::size_t begin = 0;  // the piece's, among all bytes
  for (const Piece& piece : pieces) {
    const std::size_t size = sizeOf(piece.type);
    const auto offsetOf = [&](std::size_t byte) {
      return (std::clamp(byte, begin, begin + piece.bytes.size()) - begin) / size * size;
    };
    const std::size_t from = offsetOf(cut(index));
    const std::size_t to = index + 1 == count ? piece.bytes.size() : offsetOf(cut(index + 1));
    begin += piece.bytes.size();
    const bool is_empty_tensor = piece.bytes.empty() && index == 0;  // one member must name it
    if (from == to && !is_empty_tensor) continue;
    share.push_back(piece);
    share.back().first += from / size;
    share.back().bytes = piece.bytes.subspan(from, to - from);
  }
  return share;
}

}  // namespace popdist::train
