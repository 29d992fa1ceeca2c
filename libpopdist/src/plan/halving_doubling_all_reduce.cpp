// SPDX-License-Identifier: Apache-2.0
// Ranks that are still to exchange the same range agree in the bits of their numbers that have been used.
#include "libpopdist/src/plan/halving_doubling_all_reduce.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "libpopdist/src/plan/core_ranks.h"

namespace popdist::plan {
namespace {

struct Halves {
  Range lower;
  Range upper;
};

Halves halvesOf(Range whole) {
  const std::size_t lower = whole.count - whole.count / 2;
  return {{whole.begin, lower}, {whole.begin + lower, whole.count / 2}};
}

Slice outputAt(const Range& range) {
  return {Buffer::kOutput, range.begin};
}

}  // namespace

Plan planHalvingDoublingAllReduce(int rank, int ranks, std::size_t count) {
  const CoreRanks core(rank, ranks);
  if (core.isExtra()) return core.planOfExtra(count);
  const Range all{0, count};
  Plan plan;
  std::uint32_t round = 0;
  if (core.hasExtra()) {
    plan.steps.push_back(recvReduceStep(round++, core.neighbour(), outputAt(all), outputAt(all), count, {}));
  }

  Range mine = all;
  std::vector<Range> given_away;
  for (int mask = 1; mask < core.size(); mask *= 2, ++round) {
    const int partner = core.index() ^ mask;
    const int peer = core.rankOf(partner);
    const Halves halves = halvesOf(mine);
    const bool upper = (core.index() & mask) != 0;
    mine = upper ? halves.upper : halves.lower;
    given_away.push_back(upper ? halves.lower : halves.upper);
    plan.steps.push_back(sendStep(round, peer, outputAt(given_away.back()), given_away.back().count));
    plan.steps.push_back(recvReduceStep(round, peer, outputAt(mine), outputAt(mine), mine.count,
                                        core.operandsOf(partner, mask)));
  }
  for (int mask = core.size() / 2; mask > 0; mask /= 2, ++round) {
    const int peer = core.rankOf(core.index() ^ mask);
    const Range back = given_away.back();
    given_away.pop_back();
    plan.steps.push_back(sendStep(round, peer, outputAt(mine), mine.count));
    plan.steps.push_back(recvStep(round, peer, outputAt(back), back.count));
    mine = {std::min(mine.begin, back.begin), mine.count + back.count};
  }
  if (core.hasExtra()) plan.steps.push_back(sendStep(round, core.neighbour(), outputAt(all), count));
  return plan;
}

}  // namespace popdist::plan
