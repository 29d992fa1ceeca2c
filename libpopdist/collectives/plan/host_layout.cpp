// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/host_layout.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace popdist::plan {
HostLayout::HostLayout(std::vector<int> members, int rank) : members_(std::move(members)) {
  int first = 0;
  for (int host = 0; host < hosts(); ++host) {
    first_ranks_.push_back(first);
    if (rank >= first) {
      host_ = host;
      local_ = rank - first;
    }
    even_ &= membersOf(host) == members_.front();
    first += membersOf(host);
  }
}

int HostLayout::hostOf(int rank) const {
  const auto next = std::upper_bound(first_ranks_.begin(), first_ranks_.end(), rank);
  return static_cast<int>(next - first_ranks_.begin()) - 1;
}

std::vector<int> HostLayout::lane(int local) const {
  POP_CHECK(even_ || local == 0);
  std::vector<int> ranks = first_ranks_;
  for (int& rank : ranks) rank += local;
  return ranks;
}

Plan onRanks(Plan plan, std::span<const int> rank_of_position) {
  for (Step& step : plan.steps) {
    if (step.peer >= 0) step.peer = rank_of_position[static_cast<std::size_t>(step.peer)];
  }
  return plan;
}

}  // namespace popdist::plan
