// SPDX-License-Identifier: Apache-2.0
// Samples of an update, and the divisor of their gradients.
#pragma once

#include "popdist/trainer.hpp"

namespace popdist::train {

/// The divisor of the gradients' sum over all replicas, before the loss scale.
double divisorOf(GradientScale scale, const Strategy& strategy);

/// Trainer::samplesPerUpdate of an update of `count` micro-batches.
int samplesPerUpdate(const Strategy& strategy, int count, int micro_batch);

}  // namespace popdist::train
