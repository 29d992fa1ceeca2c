// SPDX-License-Identifier: Apache-2.0
// The instance that holds each replica.
#pragma once

#include <string>
#include <vector>

#include "popdist/context.hpp"

namespace popdist::pod {

/// The name of attaching in errors.
inline constexpr const char* kAttach = "attaching to the Pod";

/// The instance of each replica, by replica. Each instance publishes its range, and the method of
/// GCL_OPTIONS, a word, which must be that of all: collective over all instances. Throws popdist_error.
std::vector<int> instanceOfReplica(Context& context, const std::string& method);

}  // namespace popdist::pod
