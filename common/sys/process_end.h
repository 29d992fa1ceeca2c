// SPDX-License-Identifier: Apache-2.0
// The end of a child, awaited for so long and no longer.
#pragma once

#include <sys/types.h>

#include <chrono>

#include "common/sys/fd.h"

namespace pop::sys {

/// Readable from the end of `pid` on, a child not yet reaped. Not valid where the system gives none:
/// no descriptor is left, or a filter of system calls forbids it.
Fd endOf(pid_t pid);

/// True when `pid`, a child not yet reaped, has ended within `timeout`; it is still to be reaped.
bool endsWithin(pid_t pid, std::chrono::milliseconds timeout);

}  // namespace pop::sys
