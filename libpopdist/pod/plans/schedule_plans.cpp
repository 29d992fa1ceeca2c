// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/plans/schedule_plans.h"

#include <algorithm>

#include "libpopdist/collectives/plan/steps.h"
#include "libpopdist/pod/plans/collective_plans.h"
#include "libpopdist/pod/plans/sum_order.h"

namespace popdist::pod {
namespace {

plan::Slice at(std::size_t offset) {
  return {plan::Buffer::kOutput, offset};
}

}  // namespace

plan::Range overlap(plan::Range a, plan::Range b) {
  const std::size_t begin = std::max(a.begin, b.begin);
  const std::size_t end = std::min(a.begin + a.count, b.begin + b.count);
  return {begin, end > begin ? end - begin : 0};
}

plan::Range elementsOf(const Schedule& schedule, std::uint32_t first, std::uint32_t blocks,
                       std::size_t count) {
  const auto all = static_cast<int>(schedule.blocks);
  const plan::Range from = plan::blockRange(count, all, static_cast<int>(first));
  const plan::Range last = plan::blockRange(count, all, static_cast<int>(first + blocks - 1));
  return {from.begin, last.begin + last.count - from.begin};
}

std::vector<plan::Plan> plansToNeeds(const Schedule& reduces, int first, int replicas, std::size_t count,
                                     std::span<const Need> needs) {
  std::vector<plan::Plan> plans = plansOf(
      reduces, {.kind = CollectiveKind::kReduceScatterOfAll, .group = reduces.replicas, .count = count},
      first, replicas);
  const SumOrder sums(reduces);
  const auto round = static_cast<std::uint32_t>(reduces.rounds()) + 1;
  const auto isLocal = [&](int replica) { return replica >= first && replica < first + replicas; };
  for (std::uint32_t block = 0; block < reduces.blocks; ++block) {
    const int owner = sums.ownerOf(block);
    for (const Need& need : needs) {
      const plan::Range moved = overlap(elementsOf(reduces, block, 1, count), need.elements);
      if (need.replica == owner || moved.count == 0) continue;
      if (isLocal(owner))
        plans[static_cast<std::size_t>(owner - first)].steps.push_back(
            plan::sendStep(round, need.replica, at(moved.begin), moved.count));
      if (isLocal(need.replica))
        plans[static_cast<std::size_t>(need.replica - first)].steps.push_back(
            plan::recvStep(round, owner, at(moved.begin), moved.count));
    }
  }
  return plans;
}

}  // namespace popdist::pod
