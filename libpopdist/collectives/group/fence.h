// SPDX-License-Identifier: Apache-2.0
// Fences of all instances, as every part of the library enters them: one that waits in a collective for an
// instance that is in a fence, while that one waits for it, finds that out.
#pragma once

#include <string>

#include "libpopdist/collectives/context/context_state.h"

namespace popdist::group {

/// As Link::fence(), within the context's timeout.
context::LinkError enterFence(const context::ContextState& context, const std::string& tag);

}  // namespace popdist::group
