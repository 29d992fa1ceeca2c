// SPDX-License-Identifier: Apache-2.0
// Which instance holds each replica.
#pragma once

#include <vector>

#include "popdist/context.hpp"

namespace popdist::pod {

/// As the errors of attaching name it.
inline constexpr const char* kAttach = "attaching to the Pod";

/// By replica. Everybody says where its own begin: collective over all instances. Throws popdist_error.
std::vector<int> instanceOfReplica(Context& context);

}  // namespace popdist::pod
