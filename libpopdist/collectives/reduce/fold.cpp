// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/internal/fold.h"

#include "common/base/check.h"
#include "libpopdist/collectives/reduce/fold_kernel.h"

namespace popdist::reduce {
namespace {

FoldKernel kernelOn(Isa isa, Operator op, Type type) {
#ifdef __x86_64__
  if (isa == Isa::kAvx512Bf16) return avx512Bf16Kernel(op, type);
  if (isa == Isa::kAvx512) return avx512Kernel(op, type);
  if (isa == Isa::kAvx2) return avx2Kernel(op, type);
#endif
  POP_CHECK(isa == Isa::kBaseline);
  return baselineKernel(op, type);
}

}  // namespace

void fold(const FoldSpec& spec, std::span<void* const> to, std::span<const void* const> from,
          std::size_t count) {
  static const Isa isa = isaFromEnvironment().ok() ? isaFromEnvironment().value() : availableIsas().back();
  foldOn(isa, spec, to, from, count);
}

void foldOn(Isa isa, const FoldSpec& spec, std::span<void* const> to, std::span<const void* const> from,
            std::size_t count) {
  POP_CHECK(!to.empty() && !from.empty());
  POP_CHECK(supports(spec.op, spec.type));
  kernelOn(isa, spec.op, spec.type)({.to = to.data(),
                                     .destinations = to.size(),
                                     .from = from.data(),
                                     .sources = from.size(),
                                     .partials = spec.partials,
                                     .bytes = count * sizeOf(spec.type),
                                     .divisor = spec.divisor,
                                     .streaming = spec.streaming});
}

}  // namespace popdist::reduce
