// SPDX-License-Identifier: Apache-2.0
// What this thread's arithmetic does with denormals, and whether all instances do the same: any of them may
// compute a part of a sum.
#pragma once

#include "popdist/context.hpp"

namespace popdist::train {

bool denormalsAreFlushed();
/// "flushed" or "kept".
const char* denormalsInForce();

/// Collective. Throws popdist_error kFailedPrecondition, on all instances, naming the first two that differ.
void requireSameDenormals(Context& context, const char* function);

}  // namespace popdist::train
