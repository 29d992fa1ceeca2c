// SPDX-License-Identifier: Apache-2.0
// What a collective reduces by, and which element types each operator is defined for.
// From: PopDist and GCL, whose names these are. kLogicalOr, kBitAnd, kBitOr and kBitXor are ours.
#pragma once

#include <cstdint>

#include "popdist/types.hpp"

namespace popdist {

/// In a host's memory the members' elements are taken in the order of their ranks; by messages (over hosts,
/// for one) in an order that depends on the number of members and how they lie on hosts.
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
};

/// "sum", "square add", …: for messages.
const char* nameOf(Operator op);

/// Whether `op` is defined for elements of `type`; false for values outside the enumerations.
///
///                              | bool | integers | floats
///   sum, product, square add   |      |    x     |   x
///   mean                       |      |          |   x
///   min, max                   |  x   |    x     |   x
///   logical and, or            |  x   |    x     |
///   bit and, or, xor           |  x   |    x     |
///
/// Integers wrap modulo 2^bits. They have no mean because partial sums that wrapped cannot be divided. Floats
/// have no truth value here: neither NaN nor -0 has an answer that everybody expects.
/// half and bfloat16 are reduced as float and rounded to nearest, ties to even: once in a host's memory, by
/// messages each time a partial result travels. A mean is divided at the end: partial sums of halves that
/// exceed 65504 are infinite though their mean is not; bfloat16 and float have no such bound, and halves can
/// be divided before. A NaN among the elements makes the result NaN, for min and max too: one quiet NaN of
/// positive sign, whatever the NaNs were. -0 is less than +0.
bool supports(Operator op, Type type);

}  // namespace popdist
