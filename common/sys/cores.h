// SPDX-License-Identifier: Apache-2.0
// The cores that threads run on, by the system's numbers.
#pragma once

#include <vector>

namespace pop::sys {

/// The core that the calling thread runs on; -1: unknown.
int currentCore();

/// The cores that the calling thread may use; empty: unknown.
std::vector<int> usableCores();

/// Moves the calling thread to another core that it may use, if there is one. Its set of allowed cores stays
/// the same, so the system may move it again.
void changeCore();

/// The same, to a given core that it may use.
void moveToCore(int core);

}  // namespace pop::sys
