// SPDX-License-Identifier: Apache-2.0
// The end of a child, awaited for so long and no longer.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace pop::sys {

/// True when `pid`, a child that nobody has reaped, has ended within `patience`; it is still to be reaped.
bool endsWithin(pid_t pid, std::chrono::milliseconds patience);

}  // namespace pop::sys
