// SPDX-License-Identifier: Apache-2.0
// The commands on detached jobs: --attach, --jobs, --logs and --cancel, here or by ssh on the host of the
// job.
#pragma once

#include "poprun/plan/settings.h"

namespace pop {

/// Carries out the one of them that is given. Returns poprun's exit code.
int detachedCommand(const Options& options);

}  // namespace pop
