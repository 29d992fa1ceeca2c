// SPDX-License-Identifier: Apache-2.0
// Limits of a rank's spins and yields before it sleeps, whatever it waits on: docs/adr/0006 has the
// measurements.
#pragma once

#include <chrono>

namespace popdist::transport {

inline constexpr int kMaxSpins = 2000;  ///< about 20 us
inline constexpr int kYields = 200;
/// The longest sleep: a peer's end or a deadline does not wake a sleeper.
inline constexpr std::chrono::milliseconds kLongestSleep{20};

}  // namespace popdist::transport
