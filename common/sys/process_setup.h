// SPDX-License-Identifier: Apache-2.0
// How a process that runs jobs sets itself up.
#pragma once

#include "common/base/status.h"

namespace pop::sys {

/// After the keeper was forked: instances have limits and signals as we had them. Raises the limits on open
/// descriptors (two for each instance) and file sizes (the segment that instances share is, sparse as it is,
/// a large file); writes to what nobody reads fail instead of killing; a caller that blocks signals would
/// have us deaf to Ctrl-C, and one that ignores SIGCHLD would have the kernel reap the keeper before we have
/// read how it ended. Fails when there are not even the descriptors that every process with a loop takes.
/// Once in a process.
Status setUpForJobs();

/// The limits as setUpForJobs() found them; for a child between fork and exec.
void takeBackLimits();

}  // namespace pop::sys
