// SPDX-License-Identifier: Apache-2.0
// The instruction sets that the kernels are compiled for, the best last.
#pragma once

#include <optional>
#include <string_view>

#include "kernels.h"

enum class Isa : int { kBaseline, kAvx2, kAvx512 };

/// "baseline" (SSE2 on x86-64), "avx2" (with FMA), "avx512".
const char* nameOf(Isa isa);
std::optional<Isa> isaNamed(std::string_view name);

/// The best instruction set of this CPU and its operating system. Those before it are available too.
Isa bestIsa();

MlpKernels kernelsOf(Isa isa);
