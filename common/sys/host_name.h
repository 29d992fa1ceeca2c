// SPDX-License-Identifier: Apache-2.0
// This host's own name.
#pragma once

#include <string>

namespace pop::sys {

/// Returns the name that `uname -n` prints; "localhost" if it is unknown.
std::string hostName();

}  // namespace pop::sys
