// SPDX-License-Identifier: Apache-2.0
#include "loops.h"
#include "sequence_loops.h"

Loops loopsOf(Isa isa) {
#ifdef __x86_64__
  if (isa == Isa::kAvx2) return avx2::loops();
  if (isa == Isa::kAvx512) return avx512::loops();
#endif
  (void)isa;
  return baseline::loops();
}

SequenceLoops sequenceLoopsOf(Isa isa) {
#ifdef __x86_64__
  if (isa == Isa::kAvx2) return avx2::sequenceLoops();
  if (isa == Isa::kAvx512) return avx512::sequenceLoops();
#endif
  (void)isa;
  return baseline::sequenceLoops();
}
