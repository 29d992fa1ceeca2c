// SPDX-License-Identifier: Apache-2.0
// How the program's collectives are to go (--collectives), as the variables that libpopdist reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/contract/env_contract.h"

namespace pop {

/// "staged", "tcp,ring": names of ways, separated by commas. kInvalidArgument: one is none, or two exclude
/// each other.
Result<std::vector<std::string>> parseCollectiveWays(std::string_view text);

/// For the environment of all instances.
std::vector<contract::Variable> collectiveVariables(const std::vector<std::string>& collective_ways);

}  // namespace pop
