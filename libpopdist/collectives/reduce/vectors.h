// SPDX-License-Identifier: Apache-2.0
// The compiler's vectors (as wide as a register of the instruction set that the including file is compiled
// for) and how they are read from and written to memory at any address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "libpopdist/collectives/reduce/float16.h"

namespace popdist::reduce {
namespace {

template <typename Element, std::size_t kBytes>
struct VectorOf {
  typedef Element Type __attribute__((vector_size(kBytes)));  // NOLINT(modernize-use-using)
};
template <typename Element, std::size_t kBytes>
using Vector = typename VectorOf<Element, kBytes>::Type;

/// The same bits as another type of the same size.
template <typename To, typename From>
POPDIST_INLINE To as(From from) {
  return __builtin_bit_cast(To, from);
}

/// Reading and writing on any instruction set; those that can do better hide what they do better.
template <std::size_t kVectorBytes>
struct PlainMemory {
  static constexpr std::size_t kBytes = kVectorBytes;
  using Bytes = Vector<std::uint8_t, kBytes>;

  POPDIST_INLINE static Bytes load(const unsigned char* from) { return loadPart(from, kBytes); }
  POPDIST_INLINE static void store(unsigned char* to, Bytes bytes) { storePart(to, bytes, kBytes); }
  /// The first `count` bytes, followed by zeros.
  POPDIST_INLINE static Bytes loadPart(const unsigned char* from, std::size_t count) {
    Bytes bytes{};
    __builtin_memcpy(&bytes, from, count);
    return bytes;
  }
  POPDIST_INLINE static void storePart(unsigned char* to, Bytes bytes, std::size_t count) {
    __builtin_memcpy(to, &bytes, count);
  }
  /// Past the caches; `to` is a multiple of kBytes.
  POPDIST_INLINE static void stream(unsigned char* to, Bytes bytes) { store(to, bytes); }
  /// Between the last stream() and telling others that the data is there.
  POPDIST_INLINE static void endStreaming() {}
};

/// Every NaN becomes the same one. An instruction with two NaNs hands on the sign and payload of one, by the
/// order of its operands, which is the compiler's choice.
template <typename Floats>
POPDIST_INLINE Floats withOneNan(Floats value) {
  constexpr bool kIsFloat = sizeof(value[0]) == sizeof(float);
  using Word = std::conditional_t<kIsFloat, std::uint32_t, std::uint64_t>;
  using Bits = Vector<Word, sizeof(Floats)>;
  constexpr Word kQuietNan = kIsFloat ? Word{0x7FC00000U} : static_cast<Word>(0x7FF8000000000000U);
  const auto is_number = value == value;  // NOLINT(misc-redundant-expression): not of NaNs
  return as<Floats>(is_number ? as<Bits>(value) : Bits{} + kQuietNan);
}

/// Halves as floats, on instruction sets that do not know them. Two neighbours lie in one 32-bit element: the
/// even one in its lower half, the odd one in its upper half.
template <std::size_t kBytes>
struct HalvesByBits {
  using Bytes = Vector<std::uint8_t, kBytes>;
  using Floats = Vector<float, kBytes>;
  using Bits = Vector<std::int32_t, kBytes>;

  POPDIST_INLINE static void widen(Bytes halves, Floats (&floats)[2]) {
    const Bits pairs = as<Bits>(halves);
    floats[0] = floatFromHalf<Floats>(pairs);
    floats[1] = floatFromHalf<Floats>(pairs >> 16);
  }
  POPDIST_INLINE static Bytes narrow(const Floats (&floats)[2]) {
    const Bits even = halfFromFloat<Bits>(withOneNan(floats[0]));
    const Bits odd = halfFromFloat<Bits>(withOneNan(floats[1]));
    return as<Bytes>((even & 0xFFFF) | (odd << 16));
  }
};

/// Likewise for bfloat16s, whose bits are the upper half of a float's.
template <std::size_t kBytes>
struct Bfloat16sByBits {
  using Bytes = Vector<std::uint8_t, kBytes>;
  using Floats = Vector<float, kBytes>;
  using Bits = Vector<std::uint32_t, kBytes>;

  POPDIST_INLINE static void widen(Bytes bfloat16s, Floats (&floats)[2]) {
    const Bits pairs = as<Bits>(bfloat16s);
    floats[0] = as<Floats>(pairs << 16);
    floats[1] = as<Floats>(pairs & 0xFFFF0000U);
  }
  POPDIST_INLINE static Bytes narrow(const Floats (&floats)[2]) {
    const Bits even = roundToUpperHalf(as<Bits>(withOneNan(floats[0])));
    const Bits odd = roundToUpperHalf(as<Bits>(withOneNan(floats[1])));
    return as<Bytes>((even >> 16) | (odd & 0xFFFF0000U));
  }
};

}  // namespace
}  // namespace popdist::reduce
