// SPDX-License-Identifier: Apache-2.0
// The end of a child, awaited for so long and no longer.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace pop::sys {

/// True when `pid`, a child that nobody has reaped, has ended within `patience`; it is still to be reaped.
/// True as well where the kernel has no descriptor left to wait on: then the reaping waits.
bool endsWithin(pid_t pid, std::chrono::milliseconds patience);

}  // namespace pop::sys
