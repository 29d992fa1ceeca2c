// SPDX-License-Identifier: Apache-2.0
// For processes that hold keys and tokens.
#pragma once

#include <sys/prctl.h>

#include <cerrno>

#include "common/base/status.h"

namespace pop::sys {

/// Only root can read or trace this process from now on, other processes of its user neither, and it
/// leaves no core dump; so it is of what it forks, until that executes another program. Call it before a
/// secret is in memory.
inline Status keepMemoryPrivate() {
  return ::prctl(PR_SET_DUMPABLE, 0) == 0 ? Status()
                                          : errnoStatus("keeping other processes out of our memory", errno);
}

}  // namespace pop::sys
