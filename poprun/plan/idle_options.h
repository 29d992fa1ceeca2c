// SPDX-License-Identifier: Apache-2.0
// Options that need another one, without it.
#pragma once

#include <string>
#include <vector>

#include "poprun/plan/settings.h"

namespace pop {

/// A warning for each option that was given and does nothing.
std::vector<std::string> findIdleOptions(const Options& options);

}  // namespace pop
