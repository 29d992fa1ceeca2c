// SPDX-License-Identifier: Apache-2.0
// fold() on every CPU of the architecture: SSE2 on x86-64, what the compiler makes of 16-byte vectors
// elsewhere.
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "libpopdist/collectives/reduce/fold_loop.h"

namespace popdist::reduce {
namespace {

struct Baseline : PlainMemory<16> {
  static constexpr std::size_t kRegisters = 4;
  using Halves = HalvesByBits<kBytes>;
  using ForHalves = Baseline;
  using Bfloat16s = Bfloat16sByBits<kBytes>;

#ifdef __SSE2__
  POPDIST_INLINE static void stream(unsigned char* to, Bytes bytes) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), as<__m128i>(bytes));
  }
  POPDIST_INLINE static void endStreaming() {
    _mm_sfence();
  }
#endif
};

}  // namespace

FoldKernel baselineKernel(Operator op, Type type) {
  return kernelOf<Baseline>(op, type);
}

}  // namespace popdist::reduce
