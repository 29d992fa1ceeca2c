// SPDX-License-Identifier: Apache-2.0
// Element by element reduction, one kernel per element type.
#pragma once

#include <cstddef>

#include "popdist/types.hpp"

namespace popdist::reduce {

/// to[i] = from[i] + incoming[i] for i < count. `to` may equal `from` or `incoming`, but not overlap them
/// otherwise. The memory needs no alignment.
using Kernel = void (*)(void* to, const void* from, const void* incoming, std::size_t count);

/// Integers wrap modulo 2^bits; half and bfloat16 are added as float and rounded to nearest, ties to even.
/// nullptr where a sum makes no sense: kBool.
Kernel sumKernel(Type type);

}  // namespace popdist::reduce
