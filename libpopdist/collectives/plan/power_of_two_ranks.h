// SPDX-License-Identifier: Apache-2.0
// For algorithms that pair ranks by the bits of their numbers: they use as many ranks as the largest power of
// two. Each further rank, an extra one, hands its elements to a neighbour among those first, and receives the
// result at the end.
#pragma once

#include <bit>

#include "common/base/check.h"
#include "libpopdist/collectives/plan/steps.h"

namespace popdist::plan {

class PowerOfTwoRanks {
 public:
  PowerOfTwoRanks(int rank, int ranks)
      : rank_(rank),
        size_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))),
        extras_(ranks - size_) {
    POP_CHECK(ranks >= 1 && rank >= 0 && rank < ranks);
  }

  int size() const { return size_; }
  /// Even ranks among the first 2 · extras are extra; each odd one serves the extra rank before it.
  bool isExtra() const { return rank_ < 2 * extras_ && rank_ % 2 == 0; }
  bool hasExtra() const { return rank_ < 2 * extras_ && rank_ % 2 == 1; }
  int neighbour() const { return rank_ ^ 1; }

  /// This rank's number among those that are not extra.
  int index() const { return rank_ < 2 * extras_ ? rank_ / 2 : rank_ - extras_; }
  int rankOf(int index) const { return index < extras_ ? 2 * index + 1 : index + extras_; }

  /// Operands of an exchange with number `partner`, `mask` away: before the first exchange only ranks that
  /// serve an extra one hold more than their own elements.
  Operands operandsOf(int partner, int mask) const {
    const bool first = mask == 1;
    return {.own_is_partial = !first || index() < extras_,
            .incoming_is_partial = !first || partner < extras_,
            .last = 2 * mask == size_};
  }

  /// The steps of an extra rank, whose elements are in kOutput: its neighbour needs them in its first round.
  Plan planOfExtra(std::size_t count) const {
    constexpr Slice kData{Buffer::kOutput, 0};
    return {.steps = {sendStep(0, neighbour(), kData, count), recvStep(1, neighbour(), kData, count)}};
  }

 private:
  int rank_;
  int size_;
  int extras_;
};

}  // namespace popdist::plan
