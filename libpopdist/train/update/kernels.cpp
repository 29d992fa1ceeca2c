// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/update/kernels.h"

namespace popdist::train {

UpdateKernels kernelsOf([[maybe_unused]] reduce::Isa isa) {
#ifdef __x86_64__
  if (isa == reduce::Isa::kAvx512 || isa == reduce::Isa::kAvx512Bf16) return avx512UpdateKernels();
  if (isa == reduce::Isa::kAvx2) return avx2UpdateKernels();
#endif
  return baselineUpdateKernels();
}

const UpdateKernels& kernels() {
  static const UpdateKernels chosen =
      kernelsOf(reduce::isaFromEnvironment().ok() ? reduce::isaFromEnvironment().value()
                                                  : reduce::availableIsas().back());
  return chosen;
}

}  // namespace popdist::train
