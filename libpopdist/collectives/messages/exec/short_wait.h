// SPDX-License-Identifier: Apache-2.0
// Waits that programs end by their deadlines, to go on without those that have not come.
#pragma once

#include <chrono>

namespace popdist::exec {

/// A wait with a shorter timeout ends by it: it is not checked for being in vain.
inline constexpr std::chrono::milliseconds kShortWait{5000};

}  // namespace popdist::exec
