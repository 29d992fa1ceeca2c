// SPDX-License-Identifier: Apache-2.0
// The instruction sets that kernels are compiled for, and the one that is used.
#pragma once

#include <span>
#include <string_view>

#include "common/base/status.h"

namespace popdist::reduce {

enum class Isa { kBaseline, kAvx2, kAvx512, kAvx512Bf16 };

/// "baseline" (SSE2 on x86-64), "avx2", "avx512", "avx512bf16": as in POPDIST_SIMD.
const char* nameOf(Isa isa);

/// The sets that this CPU and its operating system have, the best one last. kBaseline is always there.
std::span<const Isa> availableIsas();

/// The available one of that name; the best one for an empty name. kInvalidArgument: no such name;
/// kFailedPrecondition: not on this CPU. The message names POPDIST_SIMD and what is available.
pop::Result<Isa> isaNamed(std::string_view name);

/// isaNamed() of the environment variable POPDIST_SIMD as it was at the first call; Context reports its
/// error. The variable is for tests and measurements: results do not depend on it.
const pop::Result<Isa>& isaFromEnvironment();

}  // namespace popdist::reduce
