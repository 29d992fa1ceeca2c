// SPDX-License-Identifier: Apache-2.0
// Bit patterns of half and bfloat16 to float and back, for one element (Float is float, Bits an integer of
// its size) or for vectors of them. Without branches. No step depends on subnormal floats, so a program that
// has told its CPU to flush them to zero gets the same conversions. Always inlined: files compiled for
// different instruction sets share these templates, and a copy that is not inlined could be linked into the
// wrong one.
#pragma once

#include <cstdint>

#define POPDIST_INLINE [[gnu::always_inline]] inline

namespace popdist::reduce {

/// The 16 bits of a half are in the lower half of each element; what is above them does not matter. Bits is
/// signed, because SSE2 compares signed integers only; no step overflows.
template <typename Float, typename Bits>
POPDIST_INLINE Float floatFromHalf(Bits half_bits) {
  constexpr std::int32_t kRebias = (127 - 15) << 23;
  constexpr std::int32_t kSmallestNormal = kRebias + (1 << 23);  // 2^-14
  const Bits magnitude = half_bits & 0x7FFF;
  const Bits shifted = magnitude << 13;
  const Bits normal = shifted + kRebias;
  const Bits infinity_or_nan = normal + kRebias;
  // A half without exponent bits: (2^-14 + its value) - 2^-14, which is exact.
  const Float subnormal =
      __builtin_bit_cast(Float, shifted + kSmallestNormal) - __builtin_bit_cast(float, kSmallestNormal);

  Bits bits = magnitude < 0x0400 ? __builtin_bit_cast(Bits, subnormal) : normal;
  bits = magnitude >= 0x7C00 ? infinity_or_nan : bits;
  const Bits sign = half_bits & 0x8000;
  return __builtin_bit_cast(Float, bits | (sign << 16));
}

/// Only the lower 16 bits of each element count.
template <typename Bits, typename Float>
POPDIST_INLINE Bits halfFromFloat(Float value) {
  constexpr std::int32_t kInfinity = 0x7F800000;
  constexpr std::int32_t kTooLarge = (127 + 16) << 23;  // 2^16: just below, rounding carries to infinity
  constexpr std::int32_t kSmallestNormal = (127 - 14) << 23;
  constexpr std::int32_t kRebias = (127 - 15) << 23;
  constexpr std::int32_t kAligner = (127 - 1) << 23;  // 0.5
  const Bits zero{};
  const Bits bits = __builtin_bit_cast(Bits, value);
  const Bits magnitude = bits & 0x7FFFFFFF;
  // The last mantissa bit of 0.5 is worth 2^-24, like that of a subnormal half: adding 0.5 makes the FPU
  // round there.
  const Bits small = magnitude < kSmallestNormal ? magnitude : zero;
  const Float aligned = __builtin_bit_cast(Float, small) + __builtin_bit_cast(float, kAligner);
  const Bits subnormal = __builtin_bit_cast(Bits, aligned) - kAligner;
  const Bits odd = (magnitude >> 13) & 1;
  const Bits normal = (magnitude - kRebias + 0x0FFF + odd) >> 13;
  const Bits quiet_nan = ((magnitude >> 13) & 0x03FF) | 0x7E00;

  Bits half_bits = magnitude < kSmallestNormal ? subnormal : normal;
  half_bits = magnitude >= kTooLarge ? zero + 0x7C00 : half_bits;
  half_bits = magnitude > kInfinity ? quiet_nan : half_bits;
  return half_bits | ((bits >> 16) & 0x8000);
}

/// A float to bfloat16, in the upper half of each element; the lower half is left as it comes out. `bits` is
/// no NaN or the quiet one without payload: rounding could carry another into infinity.
template <typename Bits>
POPDIST_INLINE Bits roundToUpperHalf(Bits bits) {
  return bits + 0x7FFFU + ((bits >> 16) & 1U);
}

}  // namespace popdist::reduce
