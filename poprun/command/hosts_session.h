// SPDX-License-Identifier: Apache-2.0
// Runs one job on several hosts.
#pragma once

#include "common/model/job_spec.h"
#include "poprun/command/host_parts.h"
#include "poprun/plan/settings.h"
#include "poprun/session/job_session.h"

namespace pop {

/// Returns poprun's exit code.
int runOnHosts(const Options& options, const model::JobSpec& spec, const SessionSettings& settings,
               MakeParts make_parts);

}  // namespace pop
