// SPDX-License-Identifier: Apache-2.0
// Reads ranges of a stored file, by whole blocks whose checksums are right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"
#include "libpopdist/train/checkpoint/manifest.h"

namespace popdist::train {

/// Keeps the last block: ranges in ascending order read each block once.
class BlockReader {
 public:
  /// All must outlive it. `path` is for messages.
  BlockReader(const pop::sys::Fd& fd, const StoredFile& file, std::string path);

  /// Fills `into` from byte `at` of the file. kDataLoss: a wrong checksum, or the file is shorter than the
  /// manifest says; the text names file and bytes.
  pop::Status read(std::uint64_t at, std::span<std::byte> into);

 private:
  pop::Status load(std::size_t block);

  const pop::sys::Fd& fd_;
  const StoredFile& file_;
  std::string path_;
  std::vector<std::byte> memory_;
  std::optional<std::size_t> loaded_;
};

}  // namespace popdist::train
