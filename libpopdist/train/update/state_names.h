// SPDX-License-Identifier: Apache-2.0
// Names under which the transforms of an optimizer keep their state: checkpoints find it by them.
#pragma once

#include <span>

#include "common/base/status.h"
#include "popdist/optimizer.hpp"

namespace popdist::train {

/// kInvalidArgument naming what is there twice.
pop::Status checkStateNames(std::span<const Transform> transforms);

}  // namespace popdist::train
