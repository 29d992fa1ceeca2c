// SPDX-License-Identifier: Apache-2.0
// What a fold comes to, one element at a time and in the plainest way.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "popdist/operators.hpp"
#include "popdist/types.hpp"

namespace popdist::reduce {

template <typename T>
constexpr bool kIsFloat16 = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

/// What T is calculated with.
template <typename T>
auto numberOf(T element) {
  if constexpr (kIsFloat16<T>)
    return static_cast<float>(element);
  else
    return element;
}
template <typename T>
using Number = decltype(numberOf(T()));

template <typename T>
constexpr bool kIsFloat = std::is_floating_point_v<Number<T>>;

template <typename T>
T quietNan() {
  if constexpr (kIsFloat16<T>) {
    T nan;
    nan.bits = std::is_same_v<T, half> ? 0x7E00 : 0x7FC0;
    return nan;
  } else {
    return std::numeric_limits<T>::quiet_NaN();
  }
}

template <typename T>
T elementOf(Number<T> number) {
  if constexpr (kIsFloat<T>) {
    if (std::isnan(number)) return quietNan<T>();
  }
  return static_cast<T>(number);
}

template <typename N>
bool isLess(N a, N b) {
  if constexpr (std::is_floating_point_v<N>) {
    if (a == 0 && b == 0) return std::signbit(a) && !std::signbit(b);
  }
  return a < b;
}

/// Through 64 unsigned bits: products of small unsigned integers would be signed ones.
template <typename N, typename Calculate>
N wrapped(N a, N b, Calculate calculate) {
  if constexpr (std::is_floating_point_v<N>)
    return calculate(a, b);
  else
    return static_cast<N>(calculate(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}

template <typename N>
N combined(Operator op, N a, N b) {
  if constexpr (std::is_floating_point_v<N>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
  } else {
    if (op == Operator::kLogicalAnd) return a != 0 && b != 0;
    if (op == Operator::kLogicalOr) return a != 0 || b != 0;
    if (op == Operator::kBitAnd) return static_cast<N>(a & b);
    if (op == Operator::kBitOr) return static_cast<N>(a | b);
    if (op == Operator::kBitXor) return static_cast<N>(a ^ b);
  }
  if (op == Operator::kMin) return isLess(b, a) ? b : a;
  if (op == Operator::kMax) return isLess(a, b) ? b : a;
  if (op == Operator::kProduct) return wrapped(a, b, [](auto x, auto y) { return x * y; });
  return wrapped(a, b, [](auto x, auto y) { return x + y; });
}

template <typename N>
N prepared(Operator op, N own) {
  if (op == Operator::kSquareAdd) return wrapped(own, own, [](auto x, auto y) { return x * y; });
  if (op == Operator::kLogicalAnd || op == Operator::kLogicalOr) return static_cast<N>(own != 0);
  return own;
}

/// The fold of one element of each source, the first `partials` of which are partial results.
template <typename T>
T folded(Operator op, const std::vector<T>& elements, std::size_t partials = 0, double divisor = 1) {
  Number<T> result{};
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const Number<T> element = numberOf(elements[k]);
    const Number<T> number = k < partials ? element : prepared(op, element);
    result = k == 0 ? number : combined(op, result, number);
  }
  if constexpr (kIsFloat<T>) {
    if (op == Operator::kMean) result /= static_cast<Number<T>>(divisor);
  }
  return elementOf<T>(result);
}

}  // namespace popdist::reduce
