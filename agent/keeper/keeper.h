// SPDX-License-Identifier: Apache-2.0
// The keeper: a tiny process that spawns and reaps the instances, and outlives whoever started it just long
// enough to end them. Forked before any thread exists.
#pragma once

#include <sys/types.h>

#include <set>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::keeper {

struct Keeper {
  pid_t pid = -1;
  sys::Fd
      link;  ///< speaks keeper_wire.h; closing it makes the keeper end all its descendants, and then itself
  std::set<pid_t> older_siblings;  ///< children that we had before (`exec poprun` in a script): never touched
};

/// Call while the process has one thread and no buffered output. Makes the caller a child subreaper too, so
/// that it inherits the instances should the keeper be killed. `life_line`: the caller's descriptor whose
/// other end is with whoever wants the job. When that has hung up and the caller does nothing about it, since
/// it is stopped or stuck, the keeper ends it and everything else.
Result<Keeper> forkKeeper(int life_line = -1);

/// Closes the link and waits until the keeper is gone and nothing is left below this process, for
/// kMostEndTime at most. kDeadlineExceeded when something resists SIGKILL.
Status endKeeper(Keeper keeper);

}  // namespace pop::keeper
