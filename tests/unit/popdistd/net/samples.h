// SPDX-License-Identifier: Apache-2.0
// The key and the client of the tests' headers.
#pragma once

#include <string>

#include "popdistd/net/client_header.h"

namespace pop::popdistd {

inline const std::string kKey(32, 'k');
inline const End kClient{"10.1.2.3", 50123};

}  // namespace pop::popdistd
