// SPDX-License-Identifier: Apache-2.0
// Whole files of text that users name.
#pragma once

#include <functional>
#include <string>

#include "common/base/status.h"

namespace pop::cli {

/// The text of a file. Larger than 16 MiB, a directory, unreadable: an error that names it.
Result<std::string> readFileText(const std::string& path);

using FileReader = std::function<Result<std::string>(const std::string& path)>;

/// Writes the file, all of it or nothing: it appears under its name when it is complete. kAlreadyExists when
/// there is one and `overwrite` does not allow to replace it. The new one has the old one's mode and, where
/// that is allowed, its owner; a symbolic link leads to it as before. What is no regular file (a pipe, a
/// device, /dev/stdout) is written to, and never replaced.
Status writeFileText(const std::string& path, const std::string& text, bool overwrite);

}  // namespace pop::cli
