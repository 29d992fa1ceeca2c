// SPDX-License-Identifier: Apache-2.0
// This thread's treatment of denormals: any instance may compute a part of a sum, so all have to do the same.
#pragma once

#include "libpopdist/train/agreement/agreement.h"

namespace popdist::train {

bool denormalsAreFlushed();
/// "flushed" or "kept".
Fact denormalsInForce();

}  // namespace popdist::train
