// SPDX-License-Identifier: Apache-2.0
// Not inline in the header: a compiler moves arithmetic past a change of MXCSR that it sees, but not past a
// call.
#include "popdist/denormals.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace popdist {

#ifdef __x86_64__
namespace {

constexpr unsigned kBits = _MM_FLUSH_ZERO_MASK | _MM_DENORMALS_ZERO_MASK;

}  // namespace

FlushDenormals::FlushDenormals() noexcept : before_(_mm_getcsr() & kBits) {
  _mm_setcsr(_mm_getcsr() | kBits);
}

// Only its own bits: rounding and flags may have been changed meanwhile, by others.
FlushDenormals::~FlushDenormals() {
  _mm_setcsr((_mm_getcsr() & ~kBits) | before_);
}

bool FlushDenormals::isSupported() noexcept {
  return true;
}
#else
FlushDenormals::FlushDenormals() noexcept : before_(0) {}
FlushDenormals::~FlushDenormals() = default;
bool FlushDenormals::isSupported() noexcept {
  return false;
}
#endif

}  // namespace popdist
