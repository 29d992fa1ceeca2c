// SPDX-License-Identifier: Apache-2.0
// The environment of this process, read once.
#pragma once

#include "common/contract/env_contract.h"
#include "libpopdist/collectives/context/transport_settings.h"

namespace popdist::context {

/// Throws popdist_error kInvalidArgument when the variables contradict each other, and kFailedPrecondition in
/// a rank of another launcher.
const pop::contract::InstanceEnv& environment();

bool environmentIsSet();

/// Throws popdist_error kInvalidArgument for invalid settings.
TransportSettings transportSettingsFromEnvironment();

}  // namespace popdist::context
