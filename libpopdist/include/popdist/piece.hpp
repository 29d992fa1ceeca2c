// SPDX-License-Identifier: Apache-2.0
// Pieces of named tensors, at their places in the whole: what an instance keeps of a state that several
// share, and what checkpoints are made of.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "popdist/cxx20.hpp"
#include "popdist/tensor.hpp"

namespace popdist::train {

/// Elements of a tensor that an instance has in memory, row-major from `first` on, as many as `bytes` holds.
/// Saving only reads the memory, loading writes it.
struct Piece {
  std::string name{};  ///< the tensor's, such as "dense.w" or "adam.m/dense.w"
  Type type = Type::kFloat;
  Shape shape{};          ///< the whole tensor's, without padding
  std::size_t first = 0;  ///< the first element's row-major index in the whole tensor
  std::span<std::byte> bytes{};

  /// All of `tensor`, which must outlive it.
  static Piece of(Tensor& tensor);
  /// All of each of `tensors`.
  static std::vector<Piece> of(Tensors& tensors);
};

/// Member `index`'s part of the writing, of `count` members that all hold the same: the part number `index`
/// of the bytes of `pieces`, cut into `count` parts of almost the same size. All parts together are `pieces`.
/// Throws popdist_error kInvalidArgument unless 0 <= index < count.
std::vector<Piece> shareOf(std::span<const Piece> pieces, int index, int count);

}  // namespace popdist::train
