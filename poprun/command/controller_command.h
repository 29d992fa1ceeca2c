// SPDX-License-Identifier: Apache-2.0
// `poprun --controller`: hands a job to popdistd. popctl carries it there, so that poprun needs no gRPC.
#pragma once

#include "common/model/job_spec.h"
#include "poprun/plan/settings.h"

namespace pop {

/// Replaces this process by popctl, which submits the job, and with --detach prints its number, else shows
/// it. Returns only on failure, with poprun's exit code.
int controllerCommand(const Options& options, const model::JobSpec& spec);

}  // namespace pop
