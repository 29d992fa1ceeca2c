// SPDX-License-Identifier: Apache-2.0
// The file that was read, and its state: another one of its name has another state.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "common/base/status.h"

namespace popdist::io {

struct FileState {
  std::string path;
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;   ///< since 1970: by a write, or by a new name or owner
  std::int64_t modified_ns = 0;  ///< by a write alone

  /// State of an open file.
  static pop::Result<FileState> of(int file, const std::string& path);
};

std::int64_t modifiedNs(const struct stat& file);

}  // namespace popdist::io
