// SPDX-License-Identifier: Apache-2.0
// One record of a detached job: what it has written, or what has happened to it.
#pragma once

#include <cstdint>
#include <string>

namespace pop::runner {

enum class RecordKind : std::uint8_t {
  kEvent = 1,   ///< common/wire/job_codec.h; never dropped
  kOutput = 2,  ///< likewise; the log's bound may drop it
  kGap = 3,     ///< in place of records that are missing: `bytes` says how many bytes of output, in decimal
};

struct Record {
  std::uint64_t sequence = 0;  ///< 1, 2, 3, …; that of a gap is the last one that is missing
  RecordKind kind = RecordKind::kEvent;
  std::string bytes;

  friend bool operator==(const Record&, const Record&) = default;
};

}  // namespace pop::runner
