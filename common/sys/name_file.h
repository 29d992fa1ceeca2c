// SPDX-License-Identifier: Apache-2.0
// Gives a finished file its final name atomically: no process ever sees a part of it.
#pragma once

#include <string>

namespace pop::sys {

/// Renames `temporary` to `path`, in the same directory. Returns 0, or the error number: without `replace`
/// EEXIST if the file exists, even if another process has just created it. On error `temporary` stays.
int nameFile(const std::string& temporary, const std::string& path, bool replace);

/// Makes the names in the directory of `path` outlast a power failure. Returns 0, or the error number.
int syncDirectoryOf(const std::string& path);

}  // namespace pop::sys
