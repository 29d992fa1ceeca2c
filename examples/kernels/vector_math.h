// SPDX-License-Identifier: Apache-2.0
// exp and sums of rows, for what is compiled once for each instruction set (loops.h): inlined into each copy,
// so that the linker has nothing to share. ISA is the namespace of the copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ISA {
namespace {

/// exp(x) for x <= 0, to 2 units in the last place: exp's of C libraries differ from CPU to CPU. x is n ln 2
/// + r with |r| <= ln 2 / 2; a polynomial gives exp(r), and n goes into the exponent.
inline float expOf(float x) {
  x = x < -87.0F ? -87.0F : x;
  const float shifted = x * 1.44269504F + 12582912.0F;  // 1.5 * 2^23: the sum's last bit counts ones
  const float n = shifted - 12582912.0F;
  const float r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = (p * r) * r + r + 1.0F;
  std::uint32_t exponent = 0;
  std::memcpy(&exponent, &shifted, sizeof exponent);
  const std::uint32_t scale_bits = (exponent + 127U) << 23U;
  float scale = 0;
  std::memcpy(&scale, &scale_bits, sizeof scale);
  return p * scale;
}

/// Sums in 16 places that every vector has a part of: the order of the additions is the same for each
/// instruction set.
constexpr std::size_t kPlaces = 16;

struct Sums {
  float at[kPlaces] = {};

  float all() const {
    float half[kPlaces / 2];
    for (std::size_t i = 0; i < 8; ++i) half[i] = at[i] + at[i + 8];
    const float left = (half[0] + half[4]) + (half[2] + half[6]);
    return left + ((half[1] + half[5]) + (half[3] + half[7]));
  }
};

/// The sum of term(0) … term(count - 1).
template <typename Term>
inline float sumOf(std::size_t count, const Term& term) {
  Sums sums;
  std::size_t j = 0;
  for (; j + kPlaces <= count; j += kPlaces) {
    for (std::size_t place = 0; place < kPlaces; ++place) sums.at[place] += term(j + place);
  }
  for (std::size_t place = 0; j < count; ++j, ++place) sums.at[place] += term(j);
  return sums.all();
}

/// The largest of values[0] … values[count - 1], at least one.
inline float mostOf(const float* values, std::size_t count) {
  float most[kPlaces];
  for (float& each : most) each = values[0];
  std::size_t j = 0;
  for (; j + kPlaces <= count; j += kPlaces) {
    for (std::size_t place = 0; place < kPlaces; ++place)
      most[place] = values[j + place] > most[place] ? values[j + place] : most[place];
  }
  for (; j < count; ++j) most[0] = values[j] > most[0] ? values[j] : most[0];
  for (const float each : most) most[0] = each > most[0] ? each : most[0];
  return most[0];
}

}  // namespace
}  // namespace ISA
