// SPDX-License-Identifier: Apache-2.0
// The ring: the phases that every ring algorithm is made of, over any cyclic order of any subset of the ranks
// and over any blocks of the vector, so that collectives of a Pod (its own ring orders) and hierarchical ones
// (a ring in each link domain, another across the domains) are composed from the same two functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

/// One rank's place on a ring: order[p] is the rank at position p, and data travels from position p to p + 1.
/// Keeps a view of `order`.
class RingPlace {
 public:
  RingPlace(std::span<const int> order, int position);

  int size() const { return size_; }
  int nextRank() const { return rankAt(behind(-1)); }
  int previousRank() const { return rankAt(behind(1)); }

  /// The position `distance` places upstream of this one; distance >= -1.
  std::size_t behind(int distance) const {
    return static_cast<std::size_t>((position_ - distance % size_ + size_) % size_);
  }

 private:
  int rankAt(std::size_t position) const { return order_[position]; }

  std::span<const int> order_;
  int size_;
  int position_;
};

/// The round after the plan's last one: where the next phase of a composed plan begins.
std::uint32_t nextRound(const Plan& plan);

/// 0, 1, … ranks - 1: the ring of a communicator without a topology.
std::vector<int> naturalOrder(int ranks);

/// `whole` cut into `blocks` consecutive blocks whose sizes differ by at most one.
std::vector<Range> splitEvenly(Range whole, int blocks);

/// The operands of the `distance`th hop of a partial result around the ring.
Operands travellingOperands(const RingPlace& place, int distance);

/// Sums blocks[b] of kOutput over the ring, in place: it ends complete at position b, and every other
/// position's copy of it is left holding a partial sum. n - 1 rounds; sends all blocks but the own one.
///
/// The partial sum of block b starts at position b + 1 and travels once around: each position adds its own
/// values as `from` to the incoming ones, position b last. So the order of every summation follows from the
/// ring alone, not from the ranks that host the positions. One block per position; blocks must not overlap
/// and may be empty.
void appendRingReduceScatter(Plan& plan, std::span<const int> order, int position,
                             std::span<const Range> blocks);

/// Gives blocks[b] of kOutput, complete at position b, to all positions, in place. n - 1 rounds; sends all
/// blocks but the next position's.
void appendRingAllGather(Plan& plan, std::span<const int> order, int position, std::span<const Range> blocks);

/// The same, but the own block is sent from `own` and need not be in kOutput yet.
void appendRingAllGather(Plan& plan, std::span<const int> order, int position, std::span<const Range> blocks,
                         Slice own);

}  // namespace popdist::plan
