// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/dataset/row_layout.h"

#include <cstring>
#include <memory>

namespace popdist::io {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

struct Block {
  std::unique_ptr<std::byte[]> memory;
  std::size_t bytes = 0;
};

/// One block for each scratch row that this thread has at a time.
struct Blocks {
  std::vector<Block> blocks;
  std::size_t in_use = 0;
};

thread_local Blocks of_this_thread;

std::byte* take(std::size_t bytes) {
  Blocks& stack = of_this_thread;
  if (stack.in_use == stack.blocks.size()) stack.blocks.emplace_back();
  Block& block = stack.blocks[stack.in_use];
  if (block.bytes < bytes) {
    block.memory.reset();
    block.bytes = 0;
    block.memory = std::make_unique_for_overwrite<std::byte[]>(bytes + kAlignment);
    block.bytes = bytes;
  }
  ++stack.in_use;
  void* start = block.memory.get();
  std::size_t room = bytes + kAlignment;
  return static_cast<std::byte*>(std::align(kAlignment, bytes, start, room));
}

}  // namespace

RowLayout::RowLayout(const Spec& spec) {
  for (const TensorSpec& tensor : spec) {
    bytes_.push_back(tensor.bytes());
    offsets_.push_back(row_bytes_);
    row_bytes_ += aligned(tensor.bytes());
  }
}

void RowLayout::copy(Row from, Row to) const {
  for (std::size_t i = 0; i < bytes_.size(); ++i) std::memcpy(to[i], from[i], bytes_[i]);
}

ScratchRow::ScratchRow(const RowLayout& layout) : row_(layout.at(take(layout.rowBytes()))) {}

ScratchRow::~ScratchRow() {
  --of_this_thread.in_use;
}

}  // namespace popdist::io
