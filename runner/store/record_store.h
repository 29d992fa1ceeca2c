// SPDX-License-Identifier: Apache-2.0
// The records of one job on its disk: `journal` has the events, `out/` the output, in segment files of which
// the middle ones go when there is more than the log's bound: the first are kept for good, the rest is a
// ring. One process writes, any number read, also while it writes; that one holds the job's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/model/job_record.h"

namespace pop::runner {

struct LogBound {
  std::uint64_t bytes = 64 << 20;         ///< of output on the disk, all together; one segment more at times
  std::uint64_t kept_first = 4 << 20;     ///< of these, the first ones are kept for good; at most half
  std::uint64_t segment_bytes = 4 << 20;  ///< of one file; at most half of the rest
};

class RecordWriter {
 public:
  /// Opens the store in `directory`, which exists, and goes on after its last whole record: one that was cut
  /// off, or does not match its checksum, is cut away with all behind it.
  static Result<RecordWriter> open(const std::string& directory, LogBound bound = {});
  RecordWriter(RecordWriter&&) noexcept;
  RecordWriter& operator=(RecordWriter&&) noexcept;
  ~RecordWriter();

  /// Appends a record, visible to readers at once, and returns its sequence. An error, such as a full disk
  /// (kResourceExhausted), leaves the store as it was; output that could not be written uses up a sequence
  /// and becomes part of the next gap. kInvalidArgument: a gap, or more than 64 MiB. A limit on file sizes is
  /// an error only where SIGXFSZ is ignored (sys::setUpForJobs).
  Result<std::uint64_t> append(RecordKind kind, std::string_view bytes);

  /// All appended records are on the disk when this returns.
  Status sync();

  std::uint64_t lastSequence() const;

 private:
  struct Impl;
  explicit RecordWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The sequence of the last record in `directory`, which nobody need write; 0: there are none. What is
/// damaged counts as the end.
Result<std::uint64_t> lastSequenceIn(const std::string& directory);

enum class Reads : std::uint8_t {
  kAll,
  kEvents,  ///< nothing of the output is looked at, and no gap is told
};

class RecordReader {
 public:
  /// Reads from `from` on, 1: from the beginning. If records from before `from` are missing too, the first
  /// gap counts their bytes as well. kNotFound: no such directory; one that no writer has opened is empty.
  static Result<RecordReader> open(const std::string& directory, std::uint64_t from = 1,
                                   Reads reads = Reads::kAll);
  RecordReader(RecordReader&&) noexcept;
  RecordReader& operator=(RecordReader&&) noexcept;
  ~RecordReader();

  /// The next record by its sequence; nothing: there is none yet, ask again when the writer has appended.
  /// kDataLoss: the store is damaged before its end; so is each later answer.
  Result<std::optional<Record>> next();

 private:
  struct Impl;
  explicit RecordReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pop::runner
