// SPDX-License-Identifier: Apache-2.0
// Ranks that are still to exchange the same range agree in the bits of their numbers that have been used.
#include "libpopdist/collectives/plan/halving_doubling_all_reduce.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "libpopdist/collectives/plan/power_of_two_ranks.h"

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
  const PowerOfTwoRanks power(rank, ranks);
  if (power.isExtra()) return power.planOfExtra(count);
  const Range all{0, count};
  Plan plan;
  std::uint32_t round = 0;
  if (power.hasExtra()) {
    plan.steps.push_back(recvReduceStep(round++, power.neighbour(), outputAt(all), outputAt(all), count, {}));
  }

  Range mine = all;
  std::vector<Range> given_away;
  for (int mask = 1; mask < power.size(); mask *= 2, ++round) {
    const int partner = power.index() ^ mask;
    const int peer = power.rankOf(partner);
    const Halves halves = halvesOf(mine);
    const bool upper = (power.index() & mask) != 0;
    mine = upper ? halves.upper : halves.lower;
    given_away.push_back(upper ? halves.lower : halves.upper);
    plan.steps.push_back(sendStep(round, peer, outputAt(given_away.back()), given_away.back().count));
    plan.steps.push_back(recvReduceStep(round, peer, outputAt(mine), outputAt(mine), mine.count,
                                        power.operandsOf(partner, mask)));
  }
  for (int mask = power.size() / 2; mask > 0; mask /= 2, ++round) {
    const int peer = power.rankOf(power.index() ^ mask);
    const Range back = given_away.back();
    given_away.pop_back();
    plan.steps.push_back(sendStep(round, peer, outputAt(mine), mine.count));
    plan.steps.push_back(recvStep(round, peer, outputAt(back), back.count));
    mine = {std::min(mine.begin, back.begin), mine.count + back.count};
  }
  if (power.hasExtra()) plan.steps.push_back(sendStep(round, power.neighbour(), outputAt(all), count));
  return plan;
}

}  // namespace popdist::plan
