// SPDX-License-Identifier: Apache-2.0
// The Pod that a job emulates: the one that the user names, or describes in a system file, the job's
// partition, or the smallest.
#pragma once

#include "poprun/plan/job_builder.h"

namespace pop {

/// Sets the job's system, or notes why it cannot be. The job's numbers must hold (model::findMistakes).
void setPod(const Options& options, const Surroundings& here, BuiltJob& built);

}  // namespace pop
