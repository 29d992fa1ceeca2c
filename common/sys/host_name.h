// SPDX-License-Identifier: Apache-2.0
// What this host calls itself.
#pragma once

#include <string>

namespace pop::sys {

/// As `uname -n` prints it; "localhost" if it cannot be found out.
std::string hostName();

}  // namespace pop::sys
