// SPDX-License-Identifier: Apache-2.0
// fold() of bfloat16 on CPUs that round floats to it themselves. Nothing here may be called on CPUs without
// AVX512_BF16.
#include "libpopdist/collectives/reduce/avx512.h"
#include "libpopdist/collectives/reduce/fold_loop.h"

namespace popdist::reduce {
namespace {

struct Avx512Bf16 : Avx512 {
  struct Bfloat16s : Bfloat16sByBits<kBytes> {
    /// The instruction makes zeros of subnormal numbers and keeps the payloads of NaNs: vectors with one of
    /// these, which are rare, are rounded as everywhere else.
    POPDIST_INLINE static Bytes narrow(const Floats (&floats)[2]) {
      constexpr int kNanOrSubnormal = 0x01 | 0x80 | 0x20;
      const __m512 even = as<__m512>(floats[0]);
      const __m512 odd = as<__m512>(floats[1]);
      const unsigned unusual_even = _mm512_fpclass_ps_mask(even, kNanOrSubnormal);
      const unsigned unusual_odd = _mm512_fpclass_ps_mask(odd, kNanOrSubnormal);
      if ((unusual_even | unusual_odd) != 0) [[unlikely]]
        return Bfloat16sByBits<kBytes>::narrow(floats);
      const __m512i apart = as<__m512i>(_mm512_cvtne2ps_pbh(odd, even));
      return as<Bytes>(_mm512_permutexvar_epi16(alternating(), apart));
    }

   private:
    /// 0, 16, 1, 17, …, 15, 31
    POPDIST_INLINE static __m512i alternating() {
      Vector<std::uint16_t, kBytes> places{};
      for (std::uint16_t i = 0; i < 32; ++i) places[i] = static_cast<std::uint16_t>(i / 2 + i % 2 * 16);
      return as<__m512i>(places);
    }
  };
};

}  // namespace

FoldKernel avx512Bf16Kernel(Operator op, Type type) {
  if (type == Type::kBfloat16) return bfloat16Kernel<Avx512Bf16>(op);
  return avx512Kernel(op, type);
}

}  // namespace popdist::reduce
