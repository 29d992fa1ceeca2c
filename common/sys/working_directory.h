// SPDX-License-Identifier: Apache-2.0
// This process's working directory, as its user calls it.
#pragma once

#include <string>

#include "common/base/status.h"

namespace pop::sys {

/// $PWD if it is the working directory, however many links lead there: on another host, the same links may
/// lead elsewhere, and the path without them may not exist. Otherwise the path without links.
Result<std::string> workingDirectory();

}  // namespace pop::sys
