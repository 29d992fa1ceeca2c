// SPDX-License-Identifier: Apache-2.0
// Sums and products that end at a limit instead of wrapping around: of bytes, and of times.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pop::pod {

/// 2^62: any two that are counted can be added, and signed numbers hold them.
inline constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 62;

/// A sum of two that are at most kMostCounted is, too.
constexpr std::uint64_t sumOf(std::uint64_t a, std::uint64_t b) {
  return std::min(a + b, kMostCounted);
}

constexpr std::uint64_t productOf(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return kMostCounted;
  return std::min(product, kMostCounted);
}

}  // namespace pop::pod
