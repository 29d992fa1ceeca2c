// SPDX-License-Identifier: Apache-2.0
// One instruction set's functions for fold.cpp, one for each operator and type. This header and those that
// such a file includes hold no inline function of the standard library: one compiled with AVX-512 could be
// the copy that the linker keeps for all files.
#pragma once

#include <cstddef>

#include "popdist/operators.hpp"
#include "popdist/types.hpp"

namespace popdist::reduce {

/// fold()'s arguments, see fold.h.
struct FoldArguments {
  void* const* to;
  std::size_t destinations;
  const void* const* from;
  std::size_t sources;
  std::size_t partials;
  std::size_t bytes;  // each array's
  double divisor;
  bool streaming;
};

using FoldKernel = void (*)(const FoldArguments& arguments);

/// For every pair that supports(op, type) allows.
FoldKernel baselineKernel(Operator op, Type type);
#ifdef __x86_64__
FoldKernel avx2Kernel(Operator op, Type type);
FoldKernel avx512Kernel(Operator op, Type type);
FoldKernel avx512Bf16Kernel(Operator op, Type type);
#endif

}  // namespace popdist::reduce
