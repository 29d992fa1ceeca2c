// SPDX-License-Identifier: Apache-2.0
// A trainer's arguments: what is refused of them, and as facts that instances, and a training that goes on,
// are compared by.
#pragma once

#include "common/base/status.h"
#include "libpopdist/src/train/trainer/agreement.h"
#include "popdist/trainer.hpp"

namespace popdist::train {

/// kInvalidArgument naming what is out of range.
pop::Status checkArguments(const Parameters& parameters, const TrainerOptions& options);

/// What the updates' bits depend on, and a checkpoint does not keep otherwise. Of accumulators: `sums`.
Facts rulesOf(const Optimizer& optimizer, const Spec& sums, const TrainerOptions& options);

/// What else all instances have alike. `count`: micro-batches of an update.
Facts argumentsOf(const Strategy& strategy, const Parameters& parameters, const TrainerOptions& options,
                  int count);

}  // namespace popdist::train
