// SPDX-License-Identifier: Apache-2.0
// The environment of this process, read once.
#pragma once

#include "common/contract/env_contract.h"

namespace popdist::context {

/// Throws popdist_error kInvalidArgument when the variables contradict each other.
const pop::contract::InstanceEnv& environment();

bool environmentIsSet();

}  // namespace popdist::context
