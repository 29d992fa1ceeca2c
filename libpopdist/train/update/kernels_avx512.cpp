// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/update/kernels_loop.h"

namespace popdist::train {

UpdateKernels avx512UpdateKernels() {
  return kernelsHere();
}

}  // namespace popdist::train
