// SPDX-License-Identifier: Apache-2.0
// poprun doctor: gets an agent started on each host as a job would, asks it what it finds there, and says all
// that would fail.
#pragma once

#include "common/model/job_spec.h"
#include "poprun/command/host_parts.h"
#include "poprun/plan/settings.h"

namespace pop {

/// Of the hosts of `spec`, for that job. 0: all are fine; 1: not all; 125: it could not find out.
int runDoctor(const Options& options, const model::JobSpec& spec, MakeParts make_parts);

}  // namespace pop
