// SPDX-License-Identifier: Apache-2.0
// All bytes of a file at once: mapped, or decompressed into memory if the file is gzip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/data/formats/file_state.h"
#include "libpopdist/data/formats/mapping.h"

namespace popdist::io {

/// Addresses of its bytes stay the same when it is moved. Their reader calls check…() then, before they are
/// believed: another process may change a mapped file.
class FileBytes {
 public:
  /// As the bytes lie on the disk. kNotFound and such; kInvalidArgument: a directory or a device.
  static pop::Result<FileBytes> map(const std::string& path);

  /// Decompressed if they are gzip: then kDataLoss where the gzip data is corrupt or cut, kResourceExhausted
  /// where the content does not fit in memory.
  static pop::Result<FileBytes> open(const std::string& path);

  FileBytes(FileBytes&&) = default;
  FileBytes& operator=(FileBytes&&) = default;

  const std::string& path() const { return state_.path; }
  const FileState& state() const { return state_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  /// As Mapping has them; bytes that were decompressed are always there.
  pop::Status checkRead() const { return mapping_ ? mapping_->checkRead(state_) : pop::Status(); }
  pop::Status checkUnchanged() const { return mapping_ ? mapping_->checkUnchanged(state_) : pop::Status(); }

 private:
  explicit FileBytes(FileState state) : state_(std::move(state)) {}

  FileState state_;
  std::span<const std::byte> bytes_;
  std::unique_ptr<const Mapping> mapping_;  // for a file with content
  std::vector<std::uint8_t> decompressed_;  // gzip's
};

}  // namespace popdist::io
