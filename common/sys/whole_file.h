// SPDX-License-Identifier: Apache-2.0
// Files of a job's directory: opened only if they are files, written whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::sys {

/// Opens a regular file with these flags of open(), made readable by its user alone. Never waits, as for a
/// pipe, and never follows a link. kFailedPrecondition: something else has its name.
Result<Fd> openRegular(const std::string& path, int flags);

/// Writes `directory`/`name` beside itself and renames it: others see all of it, or what was there before.
Status replaceFile(const std::string& directory, const std::string& name, std::string_view bytes);
/// The same, and it is on the disk when this returns.
Status replaceFileDurably(const std::string& directory, const std::string& name, std::string_view bytes);

/// All bytes written to the file are on the disk when this returns; `path` is for error messages.
Status syncFile(const Fd& file, const std::string& path);
/// The entries of a directory, new and gone ones, are on the disk when this returns.
Status syncDirectory(const std::string& path);

/// kNotFound: there is none.
Result<std::string> readRegular(const std::string& path);

}  // namespace pop::sys
