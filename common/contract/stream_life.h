// SPDX-License-Identifier: Apache-2.0
// Numbers of streams between the daemon and runners: the upper bits are the daemon's life, so those of one
// life are above those of all before.
#pragma once

namespace pop::contract {

inline constexpr int kStreamLifeShift = 32;

}  // namespace pop::contract
