// SPDX-License-Identifier: Apache-2.0
// Files of records of one size: the quickest way to read elements, since any of them is a copy out of mapped
// memory. A header of text, filled up with zeros to whole pages, then the records, tensors one after the
// other, each followed by its checksum (CRC-32C, little-endian):
//
//   POPDIST RECORDS 1
//   elements 60000
//   of arrays('/data/images.npy' of 47040128 bytes: image: uint8 [28,28]).take(60000)
//   tensor uint8 28,28 image
//   checksums 2882400001
//   end
//
// The line "of", which cache() compares, need not be there, nor that of the checksums: older files have none.
// Its number is another one in each file. Checksums begin with a sum over the header, where it is, and with
// the record's index, so that neither a record of another file nor one at another place passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"
#include "libpopdist/data/formats/file_bytes.h"
#include "popdist/tensor.hpp"

namespace popdist::io {

struct RecordsHeader {
  Spec spec;
  std::uint64_t elements = 0;
  std::string origin = {};                      ///< in words; empty: unknown
  std::optional<std::uint32_t> checksums = {};  ///< the file's own number; nothing: it has no checksums

  /// Bytes of a record without and with its checksum.
  std::size_t recordBytes() const;
  std::size_t storedBytes() const { return recordBytes() + (checksums ? sizeof(std::uint32_t) : 0); }
};

/// kInvalidArgument: a name has a line end or another control character.
pop::Result<std::string> textOf(const RecordsHeader& header);

/// The header of a file that begins with `text`; nothing is believed. `name` is the file's, for messages.
pop::Result<RecordsHeader> parseRecordsHeader(std::string_view text, const std::string& name);

/// The checksums of the records of one file.
class RecordChecksums {
 public:
  explicit RecordChecksums(const RecordsHeader& header);

  /// Checksum of record `index`, whose tensors are at `row`.
  std::uint32_t of(std::uint64_t index, const std::byte* const* row) const;
  /// The same while it copies them there out of `record`, where they follow each other.
  std::uint32_t copy(std::uint64_t index, const std::byte* record, std::byte* const* row) const;

 private:
  std::uint32_t beginOf(std::uint64_t index) const;

  std::uint32_t before_ = 0;
  std::vector<std::size_t> bytes_;  // one for each tensor
};

/// A whole file, mapped.
class RecordFile {
 public:
  /// kNotFound and such; kInvalidArgument: not of this format; kDataLoss: not as long as its header says.
  static pop::Result<RecordFile> open(const std::string& path);

  RecordFile(RecordFile&&) = default;
  RecordFile& operator=(RecordFile&&) = default;

  const RecordsHeader& header() const { return header_; }
  const FileState& state() const { return file_.state(); }
  /// All tensors of element `index` (< elements), one after the other.
  const std::byte* record(std::uint64_t index) const { return records_ + index * stored_bytes_; }
  /// Begins to fetch them into the CPU's cache, without a wait; of large records only where the copy begins.
  void prefetch(std::uint64_t index) const;
  /// Copies them to `row`. kDataLoss: they have another checksum, or are not there any more.
  pop::Status copy(std::uint64_t index, std::byte* const* row) const;

 private:
  RecordFile(FileBytes file, RecordsHeader header, std::size_t header_bytes);

  FileBytes file_;
  RecordsHeader header_;
  const std::byte* records_ = nullptr;
  std::vector<std::size_t> bytes_;  // one for each tensor
  std::size_t stored_bytes_ = 0;
  std::optional<RecordChecksums> checksums_;
};

/// Writes the file `path`.partial, which gets the name `path` when it is whole. Destroyed before, it leaves
/// nothing; what a writer that was killed has left is used again.
class RecordWriter {
 public:
  /// A link is kept: the file that it names is written. kUnavailable: another writer, in any process of this
  /// host, is at it; kInvalidArgument: `path` is a directory, a device or such; kNotFound: a link to nothing.
  static pop::Result<RecordWriter> create(std::string path, Spec spec, std::string origin = {});
  ~RecordWriter();
  RecordWriter(RecordWriter&&) noexcept = default;
  RecordWriter& operator=(RecordWriter&&) = delete;

  /// The tensors of one element, each whole.
  pop::Status append(const std::byte* const* row);

  /// Writes the header, and gives the file its name once all is on the disk; then the name is, too.
  pop::Status finish();

 private:
  RecordWriter(std::string path, pop::sys::Fd file, RecordsHeader header, std::size_t header_bytes);

  pop::Status writeBuffered();
  std::string partial() const { return path_ + ".partial"; }

  std::string path_;
  pop::sys::Fd file_;
  RecordsHeader header_;  // elements: so many are written
  RecordChecksums checksums_;
  std::size_t header_bytes_;
  std::string buffer_;
  bool is_done_ = false;
};

}  // namespace popdist::io
