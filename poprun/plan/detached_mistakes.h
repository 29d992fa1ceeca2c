// SPDX-License-Identifier: Apache-2.0
// Which options about detached jobs do not go together, or not with others.
#pragma once

#include <string>
#include <vector>

#include "poprun/plan/settings.h"

namespace pop {

/// Empty: none. Of a job and of a command.
std::vector<std::string> findDetachedMistakes(const Options& options);

}  // namespace pop
