// SPDX-License-Identifier: Apache-2.0
// The cores that threads run on, as the system numbers them.
#pragma once

#include <vector>

namespace pop::sys {

/// That the calling thread runs on; -1: not known.
int currentCore();

/// Those that the calling thread may use; none: not known.
std::vector<int> usableCores();

/// Puts the calling thread on another core of those that it may use, if there is one. It may use the same
/// ones afterwards: the system is free to move it again.
void changeCore();

/// The same of one core, which is one that it may use.
void moveToCore(int core);

}  // namespace pop::sys
