// SPDX-License-Identifier: Apache-2.0
// The instruction sets that the kernels compute with, the best last. Sums come out otherwise in their last
// bits with each: all instances of a job must use the same.
#pragma once

#include <optional>
#include <string_view>

enum class Isa : int { kBaseline, kAvx2, kAvx512 };

/// "baseline" (SSE2 on x86-64; SSE4.1 for products where the CPU has it), "avx2" (with FMA), "avx512".
const char* nameOf(Isa isa);
std::optional<Isa> isaNamed(std::string_view name);

/// The best instruction set of this CPU and its operating system. Those before it are available too.
Isa bestIsa();
