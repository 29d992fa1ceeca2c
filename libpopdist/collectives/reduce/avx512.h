// SPDX-License-Identifier: Apache-2.0
// Vectors of AVX-512 F, BW, DQ and VL. For files that are compiled for CPUs that have them.
#pragma once

#include <immintrin.h>

#include "libpopdist/collectives/reduce/vectors.h"

namespace popdist::reduce {
namespace {

/// Conversions read and write half a register of halves.
struct Avx512Halves : PlainMemory<32> {
  static constexpr std::size_t kRegisters = 4;

  struct Halves {
    using Floats = Vector<float, 64>;

    POPDIST_INLINE static void widen(Bytes halves, Floats (&floats)[1]) {
      floats[0] = as<Floats>(_mm512_cvtph_ps(as<__m256i>(halves)));
    }
    POPDIST_INLINE static Bytes narrow(const Floats (&floats)[1]) {
      return as<Bytes>(_mm512_cvtps_ph(as<__m512>(withOneNan(floats[0])), _MM_FROUND_TO_NEAREST_INT));
    }
  };

  POPDIST_INLINE static void stream(unsigned char* to, Bytes bytes) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), as<__m256i>(bytes));
  }
  POPDIST_INLINE static void endStreaming() { _mm_sfence(); }
};

struct Avx512 : PlainMemory<64> {
  static constexpr std::size_t kRegisters = 4;
  using Bfloat16s = Bfloat16sByBits<kBytes>;
  using ForHalves = Avx512Halves;

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
