// SPDX-License-Identifier: Apache-2.0
// What of poprun's own environment goes to the instances by value, wherever they run.
#pragma once

#include <vector>

#include "common/contract/env_contract.h"

namespace pop {

/// Of `own`: PopRun's choice (PATH, LD_LIBRARY_PATH, PYTHONPATH), what the user may have set of the variables
/// to which we would give a value of our own choice, and libpopdist's settings: POPDIST_* but those that
/// poprun sets. With `all`, everything but what poprun sets, and what belongs to the login here (HOME, SSH_*,
/// …).
std::vector<contract::Variable> forwardedEnvironment(const std::vector<contract::Variable>& own, bool all);

}  // namespace pop
