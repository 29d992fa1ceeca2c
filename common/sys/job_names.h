// SPDX-License-Identifier: Apache-2.0
// What tells one job from all others: its name, and its directory for compiled executables.
#pragma once

#include <string>

namespace pop {

/// 16 bytes from the kernel's source of random ones: a job's key.
std::string randomKey();

/// A path in TMPDIR, for a directory that goes with the job; whoever needs it makes it. Making and removing
/// it here would cost a job on a disk's file system a millisecond, and most need none.
std::string freshDirectory();

}  // namespace pop
