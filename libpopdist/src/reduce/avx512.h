// SPDX-License-Identifier: Apache-2.0
// Vectors of AVX-512 F, BW, DQ and VL. For files that are compiled for CPUs that have them.
#pragma once

#include <immintrin.h>

#include "libpopdist/src/reduce/vectors.h"

namespace popdist::reduce {
namespace {

struct Avx512 : PlainMemory<64> {
  static constexpr std::size_t kRegisters = 4;
  using Bfloat16s = Bfloat16sByBits<kBytes>;

  struct Halves {
    using Floats = Vector<float, kBytes>;

    POPDIST_INLINE static void widen(Bytes halves, Floats (&floats)[2]) {
      const __m512i all = as<__m512i>(halves);
      floats[0] = as<Floats>(_mm512_cvtph_ps(_mm512_castsi512_si256(all)));
      floats[1] = as<Floats>(_mm512_cvtph_ps(_mm512_extracti64x4_epi64(all, 1)));
    }
    POPDIST_INLINE static Bytes narrow(const Floats (&floats)[2]) {
      const auto low = _mm512_cvtps_ph(as<__m512>(withOneNan(floats[0])), _MM_FROUND_TO_NEAREST_INT);
      const auto high = _mm512_cvtps_ph(as<__m512>(withOneNan(floats[1])), _MM_FROUND_TO_NEAREST_INT);
      return as<Bytes>(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
    }
  };

  POPDIST_INLINE static __mmask64 first(std::size_t count) { return ~__mmask64{0} >> (kBytes - count); }
  POPDIST_INLINE static Bytes loadPart(const unsigned char* from, std::size_t count) {
    return as<Bytes>(_mm512_maskz_loadu_epi8(first(count), from));
  }
  POPDIST_INLINE static void storePart(unsigned char* to, Bytes bytes, std::size_t count) {
    _mm512_mask_storeu_epi8(to, first(count), as<__m512i>(bytes));
  }
  POPDIST_INLINE static void stream(unsigned char* to, Bytes bytes) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), as<__m512i>(bytes));
  }
  POPDIST_INLINE static void endStreaming() { _mm_sfence(); }
};

}  // namespace
}  // namespace popdist::reduce
