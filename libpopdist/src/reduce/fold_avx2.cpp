// SPDX-License-Identifier: Apache-2.0
// fold() with AVX2 and F16C. Compiled for CPUs that have them: nothing here may be called on others.
#include <immintrin.h>

#include "libpopdist/src/reduce/fold_loop.h"

namespace popdist::reduce {
namespace {

struct Avx2 : PlainMemory<32> {
  static constexpr std::size_t kRegisters = 4;
  using Bfloat16s = Bfloat16sByBits<kBytes>;

  struct Halves {
    using Floats = Vector<float, kBytes>;

    POPDIST_INLINE static void widen(Bytes halves, Floats (&floats)[2]) {
      const __m256i all = as<__m256i>(halves);
      floats[0] = as<Floats>(_mm256_cvtph_ps(_mm256_castsi256_si128(all)));
      floats[1] = as<Floats>(_mm256_cvtph_ps(_mm256_extracti128_si256(all, 1)));
    }
    POPDIST_INLINE static Bytes narrow(const Floats (&floats)[2]) {
      const __m128i low = _mm256_cvtps_ph(as<__m256>(withOneNan(floats[0])), _MM_FROUND_TO_NEAREST_INT);
      const __m128i high = _mm256_cvtps_ph(as<__m256>(withOneNan(floats[1])), _MM_FROUND_TO_NEAREST_INT);
      return as<Bytes>(_mm256_set_m128i(high, low));
    }
  };

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
