// SPDX-License-Identifier: Apache-2.0
// An open checkpoint: its manifest, and its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"
#include "libpopdist/train/checkpoint/block_reader.h"
#include "libpopdist/train/checkpoint/disk_file.h"
#include "libpopdist/train/checkpoint/manifest.h"
#include "libpopdist/train/checkpoint/safetensors.h"
#include "popdist/checkpoint.hpp"

namespace popdist::train {

class Checkpoint::Impl {
 public:
  /// kNotFound: there is no such directory, or no manifest in it.
  static pop::Result<std::unique_ptr<Impl>> open(const std::string& directory, std::uint64_t step);

  const Position& position() const { return manifest_.position; }
  const Spec& tensors() const { return tensors_; }
  std::uint64_t digest() const { return digest_; }
  pop::Status load(std::span<const Piece> pieces) const;

 private:
  /// Bytes of a file that go into a piece.
  struct Copy {
    std::size_t file;
    std::uint64_t at;
    std::span<std::byte> into;
    std::string tensor;
  };
  struct Place {
    std::size_t file;
    const Part* part;
  };
  /// A file's head: its entry for each key.
  using Head = std::map<std::string, StoredTensor, std::less<>>;

  Impl() = default;

  pop::Status openFiles();
  pop::Status index();
  pop::Status checkTensor(const Part& wanted) const;
  pop::Result<std::vector<Copy>> copiesFor(std::span<const Piece> pieces) const;
  pop::Status copy(std::span<const Copy> copies) const;
  pop::Result<Head> headOf(std::size_t file) const;

  Directory directory_;
  Manifest manifest_;
  std::uint64_t digest_ = 0;                                       ///< the digest of the manifest's text
  Spec tensors_;                                                   ///< by name
  std::map<std::string, std::vector<Place>, std::less<>> places_;  ///< each tensor's, by file
  std::vector<pop::sys::Fd> files_;
};

}  // namespace popdist::train
