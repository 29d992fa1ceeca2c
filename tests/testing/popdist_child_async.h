// SPDX-License-Identifier: Apache-2.0
// The asynchronous part of popdist_child.
#pragma once

#include <cstddef>

namespace popdist::testing {

/// 0 when all values are right; says on stderr which are not.
int checkAsynchronous();

/// Sums `count` elements again and again, two calls at once; calls `ready` after the first.
[[noreturn]] void asyncSumForever(std::size_t count, void (*ready)());

}  // namespace popdist::testing
