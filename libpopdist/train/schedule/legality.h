// SPDX-License-Identifier: Apache-2.0
// Rules for a schedule's options. Each error names the option, its value, the rule and a way out.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/status.h"
#include "popdist/schedule.hpp"

namespace popdist::train {

/// "Grouped"
std::string nameOf(ScheduleKind kind);

int stagesOf(const ScheduleOptions& options);

/// Timesteps from a micro-batch's entry to the next one's.
int periodOf(const ScheduleOptions& options);

/// A count is a multiple of this (CountRule::kTensorFlow).
int overlapOf(const ScheduleOptions& options);

/// Levels, kind, modes: all but mapping and count.
pop::Status checkShape(const ScheduleOptions& options);

/// A mapping that was given: its lengths, its IPUs, and what the kind demands of it.
pop::Status checkMapping(const ScheduleOptions& options);

/// The mode of recomputation and explicit checkpoints, once the mapping is known.
pop::Status checkRecomputation(const ScheduleOptions& options);

/// batch_serialization_iterations, once the mapping is known.
pop::Status checkBatchSerialization(const ScheduleOptions& options);

/// The mode that kAuto stands for.
RecomputeMode modeOf(const ScheduleOptions& options);

pop::Status checkCountIsLegal(const ScheduleOptions& options, std::int64_t count);

}  // namespace popdist::train
