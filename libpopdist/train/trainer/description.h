// SPDX-License-Identifier: Apache-2.0
// A trainer's arguments: what is refused of them, what memory they take, and as facts that instances, and a
// training that goes on, are compared by.
#pragma once

#include <optional>

#include "common/base/status.h"
#include "libpopdist/train/agreement/agreement.h"
#include "popdist/trainer.hpp"

namespace popdist::train {

/// kInvalidArgument naming what is out of range.
pop::Status checkArguments(const Parameters& parameters, const TrainerOptions& options);

/// kInvalidArgument: the infeed has other replicas than this instance.
pop::Status checkReplicas(const Strategy& strategy, const io::Infeed& infeed);

/// Memory plan of this training, whose device takes whatever it keeps. Throws as planMemory.
MemoryPlan planOf(const Strategy& strategy, const Parameters& parameters, const Optimizer& optimizer,
                  const TrainerOptions& options, int micro_batches);

/// Facts on which the updates' bits depend, and which a checkpoint does not keep otherwise. `sums`: the
/// accumulators.
Facts rulesOf(const Parameters& parameters, const Optimizer& optimizer, const Spec& sums,
              const TrainerOptions& options);

/// Further facts that all instances have alike. `count`: micro-batches of an update; `times`: those of a
/// pipeline that has them.
Facts argumentsOf(const Strategy& strategy, const Parameters& parameters, const TrainerOptions& options,
                  int count, const std::optional<SimulationOptions>& times);

/// The same of a pipeline, but for its count.
Facts factsOf(const PipelineOptions& options);

}  // namespace popdist::train
