// SPDX-License-Identifier: Apache-2.0
// Which options do not go together with a job that popdistd runs, or only with one.
#pragma once

#include <string>
#include <vector>

#include "poprun/plan/settings.h"

namespace pop {

/// Empty: none.
std::vector<std::string> findControllerMistakes(const Options& options);

}  // namespace pop
