// SPDX-License-Identifier: Apache-2.0
// The keeper: a small process that spawns and reaps the instances. It outlives its parent just long enough to
// end them. It is forked before the parent has threads.
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

/// Forks the keeper. Call it while the process has only one thread and no buffered output. Makes the caller a
/// child subreaper too, so that it inherits the instances if the keeper is killed. `life_line`: a descriptor
/// of the caller whose other end belongs to the program that wants the job. If that end hangs up and the
/// caller does not react, because it is stopped or stuck, the keeper kills it and everything else.
Result<Keeper> forkKeeper(int life_line = -1);

/// Closes the link and waits until the keeper is gone and this process has no descendants left, for at most
/// kMaxEndTime. kDeadlineExceeded: some process resists SIGKILL.
Status endKeeper(Keeper keeper);

}  // namespace pop::keeper
