// SPDX-License-Identifier: Apache-2.0
// Finds options that have no effect because another one is missing.
#pragma once

#include <string>
#include <vector>

#include "poprun/plan/settings.h"

namespace pop {

/// A warning for each option that was given but has no effect.
std::vector<std::string> findIdleOptions(const Options& options);

}  // namespace pop
