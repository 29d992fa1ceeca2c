// SPDX-License-Identifier: Apache-2.0
// Evaluation of checkpoints, in a process that trains nothing.
#pragma once

#include <popdist/popdist.hpp>

#include "options.h"

/// Prints a line for each checkpoint of options.checkpoints: of those that a training beside makes, until the
/// one of its last epoch; or, with options.evaluate, of all that are there.
void evaluateCheckpoints(popdist::Context& context, const TrainingOptions& options);
