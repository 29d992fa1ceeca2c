// SPDX-License-Identifier: Apache-2.0
// The instance that holds each replica.
#pragma once

#include <vector>

#include "popdist/context.hpp"

namespace popdist::pod {

/// The name of attaching in errors.
inline constexpr const char* kAttach = "attaching to the Pod";

/// The instance of each replica, by replica. Each instance publishes its range: collective over all
/// instances. Throws popdist_error.
std::vector<int> instanceOfReplica(Context& context);

}  // namespace popdist::pod
