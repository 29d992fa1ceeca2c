// SPDX-License-Identifier: Apache-2.0
// What of poprun's own environment goes to the instances by value, wherever they run.
#pragma once

#include <vector>

#include "common/contract/env_contract.h"

namespace pop {

/// PopRun's own choice (PATH, LD_LIBRARY_PATH, PYTHONPATH), and what the user may have set of the variables
/// to which we would give a value of our own choice. Variables that are not there are left out.
std::vector<contract::Variable> forwardedEnvironment(const contract::Lookup& lookup);

}  // namespace pop
