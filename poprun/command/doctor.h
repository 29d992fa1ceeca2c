// SPDX-License-Identifier: Apache-2.0
// poprun doctor: starts an agent on each host as a job would, lets it examine the host, and reports what
// would fail.
#pragma once

#include "common/model/job_spec.h"
#include "poprun/command/host_parts.h"
#include "poprun/plan/settings.h"

namespace pop {

/// Examines the hosts of `spec` for that job. 0: all are fine; 1: some are not; 125: the examination failed.
int runDoctor(const Options& options, const model::JobSpec& spec, MakeParts make_parts);

}  // namespace pop
