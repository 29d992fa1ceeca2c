// SPDX-License-Identifier: Apache-2.0
// What tells one job from all others: its name, and its directory for compiled executables.
#pragma once

#include <string>

#include "common/base/status.h"

namespace pop {

/// 16 bytes from the kernel's source of random ones: a job's key.
std::string randomKey();

struct CacheDirectory {
  std::string path;
  bool fresh = false;  ///< goes with the job; whoever needs it makes it
};

/// `chosen` (--executable-cache-path) as an absolute path, made now; else POPDIST_EXECUTABLE_CACHE_PATH; else
/// a fresh one in TMPDIR. Making and removing that here would cost a job on a disk's file system a
/// millisecond, and most need none.
Result<CacheDirectory> cacheDirectory(const std::string& chosen);

}  // namespace pop
