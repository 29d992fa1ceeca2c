// SPDX-License-Identifier: Apache-2.0
// `poprun --jobs`: the detached jobs of this host.
#pragma once

#include "poprun/plan/settings.h"

namespace pop {

/// Prints the list, the newest last, and returns poprun's exit code.
int jobsCommand(const Options& options);

}  // namespace pop
