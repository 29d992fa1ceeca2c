// SPDX-License-Identifier: Apache-2.0
// Bit patterns of half and bfloat16 to float and back. Inline and without branches, so that the loops of
// kernels.cpp become vector code on any instruction set. No step depends on subnormal floats, so a program
// that has told its CPU to flush them to zero gets the same conversions.
#pragma once

#include <bit>
#include <cstdint>

namespace popdist::reduce {

/// condition ? a : b by masking: a conditional operator may become a branch, which keeps a loop from being
/// vector code.
inline std::uint32_t select(bool condition, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (a & mask) | (b & ~mask);
}

inline float floatFromHalf(std::uint16_t half_bits) {
  constexpr std::uint32_t kRebias = (127U - 15U) << 23;
  constexpr std::uint32_t kSmallestNormal = kRebias + (1U << 23);  // 2^-14
  const std::uint32_t magnitude = half_bits & 0x7FFFU;
  const std::uint32_t shifted = magnitude << 13;
  const std::uint32_t normal = shifted + kRebias;
  const std::uint32_t infinity_or_nan = normal + kRebias;
  // A half without exponent bits: (2^-14 + its value) - 2^-14, which is exact.
  const float subnormal =
      std::bit_cast<float>(kSmallestNormal + shifted) - std::bit_cast<float>(kSmallestNormal);

  std::uint32_t bits = select(magnitude < 0x0400U, std::bit_cast<std::uint32_t>(subnormal), normal);
  bits = select(magnitude >= 0x7C00U, infinity_or_nan, bits);
  const std::uint32_t sign = half_bits & 0x8000U;
  return std::bit_cast<float>(bits | (sign << 16));
}

inline std::uint16_t halfFromFloat(float value) {
  constexpr std::uint32_t kInfinity = 0x7F800000U;
  constexpr std::uint32_t kTooLarge = (127U + 16U) << 23;  // 2^16: just below, rounding carries to infinity
  constexpr std::uint32_t kSmallestNormal = (127U - 14U) << 23;
  constexpr std::uint32_t kRebias = (127U - 15U) << 23;
  constexpr std::uint32_t kAligner = (127U - 1U) << 23;  // 0.5
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  // The last mantissa bit of 0.5 is worth 2^-24, like that of a subnormal half: adding 0.5 makes the FPU
  // round there.
  const float small = std::bit_cast<float>(select(magnitude < kSmallestNormal, magnitude, 0U));
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(small + std::bit_cast<float>(kAligner)) - kAligner;
  const std::uint32_t odd = (magnitude >> 13) & 1U;
  const std::uint32_t normal = (magnitude - kRebias + 0x0FFFU + odd) >> 13;
  const std::uint32_t quiet_nan = ((magnitude >> 13) & 0x03FFU) | 0x7E00U;

  std::uint32_t half_bits = select(magnitude < kSmallestNormal, subnormal, normal);
  half_bits = select(magnitude >= kTooLarge, 0x7C00U, half_bits);
  half_bits = select(magnitude > kInfinity, quiet_nan, half_bits);
  return static_cast<std::uint16_t>(half_bits | ((bits >> 16) & 0x8000U));
}

inline float floatFromBfloat16(std::uint16_t bfloat16_bits) {
  return std::bit_cast<float>(std::uint32_t{bfloat16_bits} << 16);
}

inline std::uint16_t bfloat16FromFloat(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t odd = (bits >> 16) & 1U;
  const std::uint32_t rounded = bits + 0x7FFFU + odd;
  const std::uint32_t quiet_nan = bits | 0x00400000U;  // rounding could carry a NaN into infinity
  const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  return static_cast<std::uint16_t>(select(is_nan, quiet_nan, rounded) >> 16);
}

}  // namespace popdist::reduce
