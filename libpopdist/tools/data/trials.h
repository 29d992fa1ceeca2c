// SPDX-License-Identifier: Apache-2.0
// Runs a command with each kind of data, and with each number of replicas.
#pragma once

#include <vector>

#include "libpopdist/tools/data/comparison.h"
#include "libpopdist/tools/data/options.h"

namespace popdist::data {

/// Shows what the command says as it goes. Throws popdist_error kAborted when it fails, kNotFound when it
/// does not say how many samples/s it makes.
std::vector<Speeds> runTrials(const Options& options);

}  // namespace popdist::data
