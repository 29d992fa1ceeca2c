// SPDX-License-Identifier: Apache-2.0
// Sets up a process that runs jobs.
#pragma once

#include "common/base/status.h"

namespace pop::sys {

/// Call it once in a process, after the keeper was forked, so that instances keep the original limits and
/// signals. It
/// - raises the limits on open descriptors (two for each instance) and on file sizes (the instances' shared
///   segment is a large, if sparse, file);
/// - makes writes to closed pipes fail instead of kill;
/// - unblocks signals, so that Ctrl-C works, and stops ignoring SIGCHLD, so that the kernel does not reap the
///   keeper before its exit status is read.
/// Fails if there are not even the descriptors that every process with a loop needs.
Status setUpForJobs();

/// The limits before setUpForJobs(); for a child between fork and exec.
void takeBackLimits();

}  // namespace pop::sys
