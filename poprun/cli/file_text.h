// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole text files that users name.
#pragma once

#include <functional>
#include <string>

#include "common/base/status.h"

namespace pop::cli {

/// The text of a file. An error that names it if it is larger than 16 MiB, a directory, or unreadable.
Result<std::string> readFileText(const std::string& path);

/// The same of a regular file, or a link to one. Never waits, as for a pipe. kInvalidArgument: something
/// else.
Result<std::string> readRegularFileText(const std::string& path);

using FileReader = std::function<Result<std::string>(const std::string& path)>;

/// Writes the file atomically: it appears under its name when it is complete. kAlreadyExists if it exists and
/// `overwrite` is false. A replaced file keeps its mode and, where permitted, its owner; symbolic links are
/// followed. Other than regular files (a pipe, a device, /dev/stdout) are written to and never replaced.
Status writeFileText(const std::string& path, const std::string& text, bool overwrite);

}  // namespace pop::cli
