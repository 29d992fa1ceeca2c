// SPDX-License-Identifier: Apache-2.0
// A copy of an instance's pieces, laid out as the file that they become: what is written is what lies in
// memory, page by page. The memory is kept from one snapshot to the next, since fresh pages would cost
// several times as much as the copy.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/train/checkpoint/part.h"

namespace popdist::train {

class Snapshot {
 public:
  /// Lays the file out, and makes memory for it. kInvalidArgument: partOf(), or two pieces would have the
  /// same name in the file. kResourceExhausted: there is no memory.
  pop::Status prepare(std::span<const Piece> pieces);

  /// prepare(), if the pieces are not those of the time before, and a copy of them.
  pop::Status take(std::span<const Piece> pieces);

  /// Results of the last take(): the parts that are in the file, and its bytes. Behind these lies memory up
  /// to a whole page.
  const std::vector<Part>& parts() const { return parts_; }
  std::span<const std::byte> file() const { return {memory_.get(), file_bytes_}; }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte, Unmap>;

  pop::Status layOut(std::vector<Part> given);
  pop::Status reserve(std::size_t bytes);

  std::vector<Part> given_;             ///< as the pieces came
  std::vector<std::size_t> positions_;  ///< in the file, of each given one
  std::vector<Part> parts_;             ///< in the order of the file, without empty parts of tensors
  std::size_t file_bytes_ = 0;
  Memory memory_ = Memory(nullptr, Unmap{0});
};

}  // namespace popdist::train
