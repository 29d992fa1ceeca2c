// SPDX-License-Identifier: Apache-2.0
// Files of records of one size: the quickest way to read elements, since any of them is a copy out of mapped
// memory. A header of text, filled up with zeros to whole pages, then the records, tensors one after the
// other:
//
//   POPDIST RECORDS 1
//   elements 60000
//   of arrays('/data/images.npy' of 47040128 bytes: image: uint8 [28,28]).take(60000)
//   tensor uint8 28,28 image
//   end
//
// The line "of", which cache() compares, need not be there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/sys/fd.h"
#include "libpopdist/src/io/formats/file_bytes.h"
#include "popdist/tensor.hpp"

namespace popdist::io {

struct RecordsHeader {
  Spec spec;
  std::uint64_t elements = 0;
  std::string origin = {};  ///< in words; empty: nobody says
};

/// kInvalidArgument: a name has a line end or another control character.
pop::Result<std::string> textOf(const RecordsHeader& header);

/// Of a file that begins with `text`; nothing is believed. `name` is the file's, for messages.
pop::Result<RecordsHeader> parseRecordsHeader(std::string_view text, const std::string& name);

/// A whole file, mapped: it must not be made shorter while this lives.
class RecordFile {
 public:
  /// kNotFound and such; kInvalidArgument: not of this format; kDataLoss: not as long as its header says.
  static pop::Result<RecordFile> open(const std::string& path);

  RecordFile(RecordFile&&) = default;
  RecordFile& operator=(RecordFile&&) = default;

  const RecordsHeader& header() const { return header_; }
  const FileState& state() const { return file_.state(); }
  /// All tensors of element `index` (< elements), one after the other.
  const std::byte* record(std::uint64_t index) const { return records_ + index * record_bytes_; }

 private:
  RecordFile(FileBytes file, RecordsHeader header, std::size_t header_bytes);

  FileBytes file_;
  RecordsHeader header_;
  const std::byte* records_ = nullptr;
  std::size_t record_bytes_ = 0;
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
  RecordWriter(std::string path, pop::sys::Fd file, Spec spec, std::string origin, std::size_t header_bytes);

  pop::Status writeBuffered();
  std::string partial() const { return path_ + ".partial"; }

  std::string path_;
  pop::sys::Fd file_;
  Spec spec_;
  std::string origin_;
  std::size_t header_bytes_;
  std::uint64_t elements_ = 0;
  std::string buffer_;
  bool is_done_ = false;
};

}  // namespace popdist::io
