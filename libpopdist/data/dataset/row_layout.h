// SPDX-License-Identifier: Apache-2.0
// Layout of an element's tensors in one block of memory, and scratch memory for elements between two steps.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "libpopdist/data/dataset/node.h"
#include "libpopdist/data/tensor/spec.h"
#include "popdist/tensor.hpp"

namespace popdist::io {

/// One address for each tensor of an element.
using RowAddresses = std::array<std::byte*, tensor::kMostTensors>;

/// Tensors one after the other, each at a multiple of 64 bytes.
class RowLayout {
 public:
  explicit RowLayout(const Spec& spec);

  std::size_t tensors() const { return bytes_.size(); }
  /// Bytes of one tensor, without what aligns the next.
  std::size_t bytes(std::size_t tensor) const { return bytes_[tensor]; }
  /// Bytes of the whole element.
  std::size_t rowBytes() const { return row_bytes_; }

  RowAddresses at(std::byte* block) const {
    RowAddresses row{};
    for (std::size_t i = 0; i < offsets_.size(); ++i) row[i] = block + offsets_[i];
    return row;
  }

  void copy(Row from, Row to) const;

 private:
  std::vector<std::size_t> bytes_;
  std::vector<std::size_t> offsets_;
  std::size_t row_bytes_ = 0;
};

/// Memory for one element, for as long as a function runs. Blocks belong to the thread and are used again;
/// scratch rows of one thread end in the reverse order of their beginnings.
class ScratchRow {
 public:
  explicit ScratchRow(const RowLayout& layout);
  ~ScratchRow();
  ScratchRow(const ScratchRow&) = delete;
  ScratchRow& operator=(const ScratchRow&) = delete;

  Row row() const { return row_.data(); }

 private:
  RowAddresses row_;
};

}  // namespace popdist::io
