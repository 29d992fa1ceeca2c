// SPDX-License-Identifier: Apache-2.0
// The writer's side of a job's output: which segment file a record goes to, and which file goes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "runner/store/append_file.h"
#include "runner/store/frame.h"
#include "runner/store/record_store.h"
#include "runner/store/segments.h"

namespace pop::runner {

/// The end of a store's records.
struct StoreEnd {
  std::uint64_t sequence = 0;
  std::uint64_t output_bytes = 0;  ///< of all records, with those that were dropped

  void include(const StoreEnd& other);
};

/// Number of bytes at the start of a file that are whole frames of `kind` with sequences above `above`, 0 if
/// there is no such file; moves `end` behind them.
Result<std::uint64_t> wholeBytes(const std::string& path, RecordKind kind, std::uint64_t above,
                                 StoreEnd& end);

class OutputRing {
 public:
  /// Makes the directory, if there is none; cuts what is damaged, with all behind it. Moves `end` behind all
  /// that is there, or was, so that no sequence comes twice.
  static Result<OutputRing> open(const std::string& directory, LogBound bound, StoreEnd& end);

  /// Appends the frame of record `sequence`; then old segments go until all together are within the bound.
  Status append(std::string_view frame, std::uint64_t sequence);
  Status sync();

 private:
  struct Part {
    Segment segment;
    std::uint64_t bytes = 0;
    bool is_synced = false;
  };

  OutputRing(std::string directory, LogBound bound);
  std::string pathOf(const Segment& segment) const { return directory_ + "/" + segment.fileName(); }
  bool isKeepingFirst() const;
  bool mustBegin(std::size_t bytes) const;
  Status beginSegment(std::uint64_t number);
  void dropOldest();

  std::string directory_;
  LogBound bound_;
  std::vector<Part> parts_;  // by number; the last one is being written
  AppendFile current_;
  std::uint64_t bytes_ = 0;       // of all parts
  std::uint64_t kept_bytes_ = 0;  // of those that are kept
};

}  // namespace pop::runner
