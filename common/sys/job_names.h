// SPDX-License-Identifier: Apache-2.0
// A job's unique name, and its directory for compiled executables.
#pragma once

#include <string>

namespace pop {

/// 16 random bytes from the kernel: a job's key.
std::string randomKey();

/// A path in TMPDIR for a directory that lives as long as the job; the program that needs it creates it.
/// Creating and removing it here would cost a job on a disk a millisecond, and most jobs do not need it.
std::string freshDirectory();

}  // namespace pop
