// SPDX-License-Identifier: Apache-2.0
// The segment files of a job's output: NUMBER.first, which are kept for good, and NUMBER.ring. NUMBER, of 20
// digits, is not above the sequence of the file's first record, and above those of all files before it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::runner {

struct Segment {
  std::uint64_t number = 0;
  bool is_kept = false;

  std::string fileName() const;
};

/// Those in the directory, by number; nothing: there is no such directory. Other files are not looked at.
Result<std::vector<Segment>> listSegments(const std::string& directory);

}  // namespace pop::runner
