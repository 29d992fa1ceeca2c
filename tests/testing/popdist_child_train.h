// SPDX-License-Identifier: Apache-2.0
// A training that fails on instance 1.
#pragma once

#include <string>
#include <vector>

#include "popdist/popdist.hpp"

namespace popdist::testing {

/// `given`: a strategy, and how the others end. Instance 1's step throws; its program catches that and ends
/// with 3. The others end with 5: for "exit" by return, instance 0 before instance 1; for "abort" by
/// Context::abort.
int train(Context& context, const std::vector<std::string>& given);

}  // namespace popdist::testing
