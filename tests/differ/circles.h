// SPDX-License-Identifier: Apache-2.0
// Instances that wait for each other in a circle, each on another communicator.
#pragma once

#include <string>
#include <vector>

#include "popdist/context.hpp"

namespace popdist::testing {

struct Circle {
  int equal_calls = 0;     ///< on each of the communicators, before
  bool has_fence = false;  ///< instance 0 enters a fence instead
};

/// Each instance calls on a communicator with the next one, which does not come: it does the same. Throws
/// popdist_error.
void callInCircle(Context& context, const Circle& circle);

/// Words for the calls that `instances` make so.
std::vector<std::string> callsInCircle(int instances);

}  // namespace popdist::testing
