// SPDX-License-Identifier: Apache-2.0
// Element types as vectors to calculate with: what lies in memory is unpacked into kParts vectors of Element,
// and packed again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libpopdist/collectives/reduce/vectors.h"

namespace popdist::reduce {
namespace {

template <typename Simd, typename Integer>
struct IntegerLane {
  using Element = Integer;
  using Part = Vector<Element, Simd::kBytes>;
  static constexpr std::size_t kElementBytes = sizeof(Element);
  static constexpr std::size_t kParts = 1;

  POPDIST_INLINE static void unpack(typename Simd::Bytes bytes, Part (&parts)[1]) {
    parts[0] = as<Part>(bytes);
  }
  POPDIST_INLINE static typename Simd::Bytes pack(const Part (&parts)[1]) {
    return as<typename Simd::Bytes>(parts[0]);
  }
};

template <typename Simd, typename Float>
struct FloatLane {
  using Element = Float;
  using Part = Vector<Element, Simd::kBytes>;
  static constexpr std::size_t kElementBytes = sizeof(Element);
  static constexpr std::size_t kParts = 1;

  POPDIST_INLINE static void unpack(typename Simd::Bytes bytes, Part (&parts)[1]) {
    parts[0] = as<Part>(bytes);
  }
  POPDIST_INLINE static typename Simd::Bytes pack(const Part (&parts)[1]) {
    return as<typename Simd::Bytes>(withOneNan(parts[0]));
  }
};

/// Calculated with as float, in as many vectors as the conversion makes. Conversion: Simd::Halves or
/// Simd::Bfloat16s.
template <typename Simd, typename Conversion>
struct Float16Lane {
  using Element = float;
  using Part = typename Conversion::Floats;
  static constexpr std::size_t kElementBytes = 2;
  static constexpr std::size_t kParts = 2 * Simd::kBytes / sizeof(Part);

  POPDIST_INLINE static void unpack(typename Simd::Bytes bytes, Part (&parts)[kParts]) {
    Conversion::widen(bytes, parts);
  }
  POPDIST_INLINE static typename Simd::Bytes pack(const Part (&parts)[kParts]) {
    return Conversion::narrow(parts);
  }
};

}  // namespace
}  // namespace popdist::reduce
