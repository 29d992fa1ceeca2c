// SPDX-License-Identifier: Apache-2.0
// Element types of collectives, and the two 16-bit floating-point types that C++20 lacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "popdist/cxx20.hpp"

namespace popdist {

enum class Type : std::uint8_t {
  kBool,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kHalf,
  kBfloat16,
  kFloat,
  kDouble,
};

/// Bytes of one element.
std::size_t sizeOf(Type type);

/// "float", "bfloat16", …: for messages.
const char* nameOf(Type type);

/// IEEE 754 binary16, storage only: arithmetic is done in float. Conversion from float rounds to nearest,
/// ties to even; values beyond 65504 become infinity; NaN stays NaN.
struct half {
  half() = default;
  explicit half(float value);
  explicit operator float() const;

  std::uint16_t bits = 0;
};

/// bfloat16 (the upper half of a float), storage only. Conversion from float rounds to nearest, ties to even;
/// NaN stays NaN.
struct bfloat16 {
  bfloat16() = default;
  explicit bfloat16(float value);
  explicit operator float() const;

  std::uint16_t bits = 0;
};

/// The Type of a C++ element type; does not compile for any other.
template <typename T>
constexpr Type typeOf() {
  if constexpr (std::is_same_v<T, bool>)
    return Type::kBool;
  else if constexpr (std::is_same_v<T, half>)
    return Type::kHalf;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return Type::kBfloat16;
  else if constexpr (std::is_same_v<T, float>)
    return Type::kFloat;
  else if constexpr (std::is_same_v<T, double>)
    return Type::kDouble;
  else {
    static_assert(std::is_integral_v<T> && sizeof(T) <= 8, "popdist: this element type has no popdist::Type");
    if constexpr (sizeof(T) == 1)
      return std::is_signed_v<T> ? Type::kInt8 : Type::kUint8;
    else if constexpr (sizeof(T) == 2)
      return std::is_signed_v<T> ? Type::kInt16 : Type::kUint16;
    else if constexpr (sizeof(T) == 4)
      return std::is_signed_v<T> ? Type::kInt32 : Type::kUint32;
    else
      return std::is_signed_v<T> ? Type::kInt64 : Type::kUint64;
  }
}

}  // namespace popdist
