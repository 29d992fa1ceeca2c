// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/internal/isa.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <array>
#include <cstdlib>
#include <string>

namespace popdist::reduce {
namespace {

constexpr std::array kIsas{Isa::kBaseline, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Bf16};

#ifdef __x86_64__
/// __builtin_cpu_supports() of clang 14 does not know it.
bool hasF16c() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
#endif

/// The number of kIsas that are available: a CPU that has one has those before it.
std::size_t countAvailable() {
#ifdef __x86_64__
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !hasF16c()) return 1;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (!avx512) return 2;
  return __builtin_cpu_supports("avx512bf16") ? 4 : 3;
#else
  return 1;
#endif
}

std::string availableNames() {
  std::string names;
  for (const Isa isa : availableIsas()) names += (names.empty() ? "" : ", ") + std::string(nameOf(isa));
  return names;
}

}  // namespace

const char* nameOf(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return "baseline";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
    case Isa::kAvx512Bf16:
      return "avx512bf16";
  }
  return "unknown instruction set";
}

std::span<const Isa> availableIsas() {
  static const std::size_t count = countAvailable();
  return std::span(kIsas).first(count);
}

pop::Result<Isa> isaNamed(std::string_view name) {
  if (name.empty()) return availableIsas().back();
  for (const Isa isa : kIsas) {
    if (name != nameOf(isa)) continue;
    if (isa <= availableIsas().back()) return isa;
    return pop::failedPrecondition("POPDIST_SIMD=" + std::string(name) +
                                   ": this CPU has only: " + availableNames());
  }
  return pop::invalidArgument("POPDIST_SIMD=" + std::string(name) +
                              ": unknown instruction set; available here: " + availableNames());
}

const pop::Result<Isa>& isaFromEnvironment() {
  static const pop::Result<Isa> isa = [] {
    const char* const name = std::getenv("POPDIST_SIMD");
    return isaNamed(name == nullptr ? "" : name);
  }();
  return isa;
}

}  // namespace popdist::reduce
