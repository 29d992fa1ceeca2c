// SPDX-License-Identifier: Apache-2.0
// A round sends the partial sum that the round before made while it makes the next one, so two slots of
// scratch take turns in each segment. The first round sends input as it is and the last one sums into the
// output; neither needs a slot.
#include "libpopdist/collectives/plan/ring_reduce_scatter.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/base/check.h"
#include "libpopdist/collectives/plan/ring.h"
#include "libpopdist/collectives/plan/segments.h"
#include "libpopdist/collectives/plan/steps.h"

namespace popdist::plan {
namespace {

std::size_t largest(std::span<const Range> blocks) {
  std::size_t count = 0;
  for (const Range& block : blocks) count = std::max(count, block.count);
  return count;
}

// The part of each block that lies in `segment`, counted from the segment's start.
std::vector<Range> partsIn(Range segment, std::span<const Range> blocks) {
  std::vector<Range> parts;
  parts.reserve(blocks.size());
  for (const Range& block : blocks) {
    const std::size_t left = block.count - std::min(block.count, segment.begin);
    parts.push_back({block.begin, std::min(left, segment.count)});
  }
  return parts;
}

Plan planOfSegment(std::span<const int> order, int position, std::span<const Range> blocks) {
  const RingPlace place(order, position);
  const Range& own = blocks[place.behind(0)];
  Plan plan;
  if (place.size() == 1) {
    plan.steps.push_back(copyStep(0, {Buffer::kInput, own.begin}, {Buffer::kOutput, 0}, own.count));
    return plan;
  }

  const std::size_t slot = largest(blocks);
  plan.scratch_count = slot * static_cast<std::size_t>(std::min(place.size() - 2, 2));
  Slice source{Buffer::kInput, blocks[place.behind(1)].begin};
  std::uint32_t round = 0;
  for (int distance = 1; distance < place.size(); ++distance, ++round) {
    const Range& received = blocks[place.behind(distance + 1)];
    const bool last = distance + 1 == place.size();
    const Slice sum = last ? Slice{Buffer::kOutput, 0} : Slice{Buffer::kScratch, round % 2 * slot};
    plan.steps.push_back(sendStep(round, place.nextRank(), source, blocks[place.behind(distance)].count));
    plan.steps.push_back(recvReduceStep(round, place.previousRank(), {Buffer::kInput, received.begin}, sum,
                                        received.count, travellingOperands(place, distance)));
    source = sum;
  }
  return plan;
}

}  // namespace

Plan planRingReduceScatter(int rank, int ranks, std::size_t count, std::size_t segment) {
  POP_CHECK(ranks >= 1);
  const std::size_t total = static_cast<std::size_t>(ranks) * count;
  return planRingReduceScatter(naturalOrder(ranks), rank, splitEvenly({0, total}, ranks), segment);
}

// Two ranks exchange their halves in one round and keep nothing.
Plan planRingReduceScatter(std::span<const int> order, int position, std::span<const Range> blocks,
                           std::size_t segment) {
  POP_CHECK(blocks.size() == order.size());
  const std::size_t count = largest(blocks);
  return inSegments(count, order.size() > 2 ? segment : std::max(count, segment),
                    [&](Range part) { return planOfSegment(order, position, partsIn(part, blocks)); });
}

}  // namespace popdist::plan
