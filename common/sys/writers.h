// SPDX-License-Identifier: Apache-2.0
// Checks who may change a file that decides whom to trust.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::sys {

/// Checks that only this user and root can write the file at `path` and change its permissions; otherwise
/// kFailedPrecondition, with the path. If there is no file, its error.
Status checkWriters(const std::string& path);

/// The same for an open file, so that the checked file is the one that is read. Also checks that nobody else
/// can replace `path` in its directory. Directories further up, and those behind links, are not checked.
Status checkWriters(const Fd& file, const std::string& path);

}  // namespace pop::sys
