// SPDX-License-Identifier: Apache-2.0
// Converts --collectives to the environment variables that libpopdist reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/contract/env_contract.h"

namespace pop {

/// "staged", "tcp,ring": names of algorithms, separated by commas. kInvalidArgument: an unknown name, or two
/// that exclude each other.
Result<std::vector<std::string>> parseCollectiveWays(std::string_view text);

/// The variables for the environment of all instances.
std::vector<contract::Variable> collectiveVariables(const std::vector<std::string>& collective_ways);

}  // namespace pop
