// SPDX-License-Identifier: Apache-2.0
// The operators of reductions, and the element types that each is defined for.
// From: PopDist and GCL, whose names these are. kLogicalOr, kBitAnd, kBitOr and kBitXor are ours.
#pragma once

#include <cstdint>

#include "popdist/types.hpp"

namespace popdist {

/// On one host elements are combined in order of rank; by messages (over hosts, for example) in an order that
/// depends on the number of members and how they lie on hosts.
enum class Operator : std::uint8_t {
  kSum,
  kMean,  // the sum divided by the number of members
  kMin,
  kMax,
  kProduct,
  kSquareAdd,   // the sum of the elements' squares
  kLogicalAnd,  // 1 where no element is zero, else 0
  kLogicalOr,   // 1 where an element is not zero, else 0
  kBitAnd,
  kBitOr,
  kBitXor,
  kLocal,  // each member keeps its own elements: Pod::reduceScatter alone has it
};

/// "sum", "square add", …: for messages.
const char* nameOf(Operator op);

/// True if `op` is defined for elements of `type`; false for values outside the enumerations.
///
///                              | bool | integers | floats
///   sum, product, square add   |      |    x     |   x
///   mean                       |      |          |   x
///   min, max                   |  x   |    x     |   x
///   logical and, or            |  x   |    x     |
///   bit and, or, xor           |  x   |    x     |
///   local                      |      |          |
///
///   - Integers wrap modulo 2^bits. They have no mean, because a wrapped sum cannot be divided.
///   - Floats have no truth value: users expect different answers for NaN and -0.
///   - half and bfloat16 are reduced as float and rounded to nearest, ties to even: once on one host, by
///     messages each time a partial result travels.
///   - A mean is divided at the end. Partial sums of halves above 65504 are infinite, even if their mean is
///     not; divide halves first if that can happen. bfloat16 and float do not have this limit.
///   - If an element is NaN, the result is NaN, for min and max too: always the same quiet, positive NaN.
///   - -0 is less than +0.
bool supports(Operator op, Type type);

}  // namespace popdist
