// SPDX-License-Identifier: Apache-2.0
// Blocks are named by how far upstream of this position they belong. Round r of a reduce-scatter sends on the
// block of r + 1 places upstream, round r of an all-gather that of r places upstream; what arrives is what
// the previous position sends, so it is always the block of one place further.
#include "libpopdist/collectives/plan/ring.h"

#include <numeric>

#include "common/base/check.h"
#include "libpopdist/collectives/plan/steps.h"

namespace popdist::plan {

RingPlace::RingPlace(std::span<const int> order, int position)
    : order_(order), size_(static_cast<int>(order.size())), position_(position) {
  POP_CHECK(position >= 0 && position < size_);
}

std::uint32_t nextRound(const Plan& plan) {
  return plan.steps.empty() ? 0 : plan.steps.back().round + 1;
}

std::vector<int> naturalOrder(int ranks) {
  POP_CHECK(ranks >= 1);
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<Range> splitEvenly(Range whole, int blocks) {
  POP_CHECK(blocks >= 1);
  std::vector<Range> split;
  split.reserve(static_cast<std::size_t>(blocks));
  for (int index = 0; index < blocks; ++index) {
    const Range block = blockRange(whole.count, blocks, index);
    split.push_back({whole.begin + block.begin, block.count});
  }
  return split;
}

Operands travellingOperands(const RingPlace& place, int distance) {
  return {.incoming_is_partial = distance > 1, .last = distance + 1 == place.size()};
}

void appendRingReduceScatter(Plan& plan, std::span<const int> order, int position,
                             std::span<const Range> blocks) {
  const RingPlace place(order, position);
  POP_CHECK(blocks.size() == order.size());
  std::uint32_t round = nextRound(plan);
  for (int distance = 1; distance < place.size(); ++distance, ++round) {
    const Range& sent = blocks[place.behind(distance)];
    const Range& received = blocks[place.behind(distance + 1)];
    const Slice sum{Buffer::kOutput, received.begin};
    plan.steps.push_back(sendStep(round, place.nextRank(), {Buffer::kOutput, sent.begin}, sent.count));
    plan.steps.push_back(recvReduceStep(round, place.previousRank(), sum, sum, received.count,
                                        travellingOperands(place, distance)));
  }
}

void appendRingAllGather(Plan& plan, std::span<const int> order, int position,
                         std::span<const Range> blocks) {
  POP_CHECK(position >= 0 && static_cast<std::size_t>(position) < blocks.size());
  appendRingAllGather(plan, order, position, blocks,
                      {Buffer::kOutput, blocks[static_cast<std::size_t>(position)].begin});
}

void appendRingAllGather(Plan& plan, std::span<const int> order, int position, std::span<const Range> blocks,
                         Slice own) {
  const RingPlace place(order, position);
  POP_CHECK(blocks.size() == order.size());
  std::uint32_t round = nextRound(plan);
  Slice source = own;
  for (int distance = 0; distance + 1 < place.size(); ++distance, ++round) {
    const Range& received = blocks[place.behind(distance + 1)];
    const Slice destination{Buffer::kOutput, received.begin};
    plan.steps.push_back(sendStep(round, place.nextRank(), source, blocks[place.behind(distance)].count));
    plan.steps.push_back(recvStep(round, place.previousRank(), destination, received.count));
    source = destination;
  }
}

}  // namespace popdist::plan
