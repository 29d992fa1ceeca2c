// SPDX-License-Identifier: Apache-2.0
// What follows from a trainer's arguments and its strategy.
#pragma once

#include <vector>

#include "common/base/status.h"
#include "popdist/trainer.hpp"

namespace popdist::train {

/// What the gradients' sum over all replicas is divided by, before the loss scale.
double divisorOf(GradientScale scale, const Strategy& strategy);

/// Of this training, whose device takes whatever it keeps. Throws as planMemory.
MemoryPlan planOf(const Strategy& strategy, const Parameters& parameters, const Optimizer& optimizer,
                  const TrainerOptions& options, int micro_batches);

/// Trainer::samplesPerUpdate of an update of `count` micro-batches.
int samplesPerUpdate(const Strategy& strategy, int count, int micro_batch);

/// Whole tensors.
std::vector<Piece> piecesOf(FlatTensors& tensors);

/// kInvalidArgument: the infeed has other replicas than this instance.
pop::Status checkReplicas(const Strategy& strategy, const io::Infeed& infeed);

}  // namespace popdist::train
