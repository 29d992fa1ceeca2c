// SPDX-License-Identifier: Apache-2.0
// fold() with AVX2 and F16C. Compiled for CPUs that have them: nothing here may be called on others.
#include <immintrin.h>

#include "libpopdist/collectives/reduce/fold_loop.h"

namespace popdist::reduce {
namespace {

/// Conversions read and write half a register of halves.
struct Avx2Halves : PlainMemory<16> {
  static constexpr std::size_t kRegisters = 4;

  struct Halves {
    using Floats = Vector<float, 32>;

    POPDIST_INLINE static void widen(Bytes halves, Floats (&floats)[1]) {
      floats[0] = as<Floats>(_mm256_cvtph_ps(as<__m128i>(halves)));
    }
    POPDIST_INLINE static Bytes narrow(const Floats (&floats)[1]) {
      return as<Bytes>(_mm256_cvtps_ph(as<__m256>(withOneNan(floats[0])), _MM_FROUND_TO_NEAREST_INT));
    }
  };

  POPDIST_INLINE static void stream(unsigned char* to, Bytes bytes) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), as<__m128i>(bytes));
  }
  POPDIST_INLINE static void endStreaming() { _mm_sfence(); }
};

struct Avx2 : PlainMemory<32> {
  static constexpr std::size_t kRegisters = 4;
  using Bfloat16s = Bfloat16sByBits<kBytes>;
  using ForHalves = Avx2Halves;

  POPDIST_INLINE static void stream(unsigned char* to, Bytes bytes) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), as<__m256i>(bytes));
  }
  POPDIST_INLINE static void endStreaming() { _mm_sfence(); }
};

}  // namespace

FoldKernel avx2Kernel(Operator op, Type type) {
  return kernelOf<Avx2>(op, type);
}

}  // namespace popdist::reduce
