// SPDX-License-Identifier: Apache-2.0
// `poprun --logs`: what a detached job of this host has written.
#pragma once

#include "poprun/plan/settings.h"

namespace pop {

/// Prints it by the output options; with --follow until the job has ended. Returns poprun's exit code: 0
/// whatever the job's.
int logsCommand(const Options& options);

}  // namespace pop
