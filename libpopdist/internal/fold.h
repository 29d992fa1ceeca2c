// SPDX-License-Identifier: Apache-2.0
// Element by element reduction of many arrays into one result, written to one or several places, in one pass.
#pragma once

#include <cstddef>
#include <span>

#include "libpopdist/internal/isa.h"
#include "popdist/operators.hpp"
#include "popdist/types.hpp"

namespace popdist::reduce {

/// Description of a fold. The defaults reduce members' own elements to a partial result of the same type,
/// which may be folded on: all fields but `partials` and `divisor` are then the same in every call.
///   shared memory, all members at hand:   {kMean, type, .divisor = members}
///   first hop of a ring, two members:     {kMean, type}
///   further hops:                         {kMean, type, .partials = 1}, sources: partial result, own
///   the last hop:                         {kMean, type, .partials = 1, .divisor = members}
struct FoldSpec {
  Operator op = Operator::kSum;
  Type type = Type::kFloat;
  /// So many of the sources, the first ones, are results of earlier folds; the others are members' own
  /// elements, which kSquareAdd has yet to square.
  std::size_t partials = 0;
  /// For kMean only: the result is divided by it before it is rounded. 1: not finished, a partial sum.
  double divisor = 1;
  /// Writes past the caches, which wins if the destinations are not read soon and exceed the caches.
  bool streaming = false;
};

/// to[d][i] = from[0][i] op from[1][i] op …, in this order, for i < count and every d.
/// Needs supports(op, type), at least one source and one destination; one source is prepared, finished and
/// copied. A destination may be a source, too, but must not overlap one otherwise. The memory needs no
/// alignment; it is fastest where the destinations begin at multiples of 64 bytes. The result is the same,
/// bit by bit, on every instruction set and however the arrays are cut into calls. operators.hpp says what
/// becomes of NaN, -0 and overflow. half and bfloat16 are accumulated as float and rounded once a call.
/// A thread that has told its CPU to flush subnormal numbers may get zeros for them.
void fold(const FoldSpec& spec, std::span<void* const> to, std::span<const void* const> from,
          std::size_t count);

/// fold() with the kernels of one of the availableIsas().
void foldOn(Isa isa, const FoldSpec& spec, std::span<void* const> to, std::span<const void* const> from,
            std::size_t count);

}  // namespace popdist::reduce
