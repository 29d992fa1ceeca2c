// SPDX-License-Identifier: Apache-2.0
// `poprun --attach` and `--cancel`: talk to the runner of a detached job of this host.
#pragma once

#include "poprun/plan/settings.h"

namespace pop {

/// Prints the job's output from its beginning, goes on with it, and returns the job's exit code.
int attachCommand(const Options& options);

/// Asks the job to end, as Ctrl-C does; the second time to be killed. Returns poprun's exit code.
int cancelCommand(const Options& options);

}  // namespace pop
