// SPDX-License-Identifier: Apache-2.0
// fold() with AVX-512 F, BW, DQ and VL. Nothing here may be called on CPUs without them.
#include "libpopdist/collectives/reduce/avx512.h"
#include "libpopdist/collectives/reduce/fold_loop.h"

namespace popdist::reduce {

FoldKernel avx512Kernel(Operator op, Type type) {
  return kernelOf<Avx512>(op, type);
}

}  // namespace popdist::reduce
