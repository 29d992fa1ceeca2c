// SPDX-License-Identifier: Apache-2.0
// TF_CONFIG, as TensorFlow reads it, and strictly beyond that: an instance that guesses what was meant would
// wait for others who guess differently.
#pragma once

#include <string_view>

#include "common/base/status.h"
#include "popdist/cluster_resolver.hpp"

namespace popdist::cluster {

/// kInvalidArgument names the key, its value and what is expected.
pop::Result<train::Cluster> parseTfConfig(std::string_view text);

/// Checks a user's cluster: kInvalidArgument if a task is out of range, or an address is bad or there twice.
/// One without workers is.
pop::Status checkCluster(const train::Cluster& cluster);

}  // namespace popdist::cluster
