// SPDX-License-Identifier: Apache-2.0
// TensorFlow's files of records, one after the other: the length (64 bits, little-endian), the masked CRC-32C
// of these 8 bytes, the data, the masked CRC-32C of the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/data/formats/file_bytes.h"

namespace popdist::io {

/// All records of several files, and where each begins: 8 bytes of memory for each.
class TfRecords {
 public:
  /// Goes from length to length. kInvalidArgument: not of this format, or no files; kDataLoss: a file is cut
  /// or one of its lengths is damaged, both name the record and its first byte.
  static pop::Result<TfRecords> open(const std::vector<std::string>& paths);

  std::uint64_t size() const { return starts_.size(); }
  std::vector<FileState> files() const;

  /// The data of record `index` (< size()). kDataLoss: it has another checksum, or is not there any more.
  pop::Result<std::span<const std::byte>> record(std::uint64_t index) const;
  /// As FileBytes has it: after a record's data was read.
  pop::Status checkRead(std::uint64_t index) const { return fileOf(index).bytes.checkRead(); }

  /// "'train.tfrecord', record 17 (at byte 4711)", counted from 0 in its file.
  std::string placeOf(std::uint64_t index) const;

 private:
  struct File {
    FileBytes bytes;
    std::uint64_t first = 0;  // its first record
  };

  pop::Status index(FileBytes file);
  const File& fileOf(std::uint64_t index) const;

  std::vector<File> files_;
  std::vector<std::uint64_t> starts_;  // each record's, in its file
};

}  // namespace popdist::io
