// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/schedule/mapping.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "pod/system/numbering.h"

namespace popdist::train {
namespace {

constexpr int kMostSearched = 8;  // stages: 8! orders at most

/// Neighbours along a ladder are one hop apart: 0 1, 3 2, 4 5, … Where the number is odd, the last is on the
/// left, so that no IPU is left out.
int alongLadder(int position, int stages) {
  const int row = position / 2;
  const int first_column = stages % 2 == 1 ? (stages - 1) / 2 % 2 : 0;
  return 2 * row + ((position + row + first_column) % 2);
}

DeviceMapping mappingOf(const std::vector<int>& levels, const std::vector<int>& ipus) {
  DeviceMapping mapping;
  std::size_t stage = 0;
  for (const int width : levels) {
    DeviceGroup group({});
    for (int i = 0; i < width; ++i) group.ipus.push_back(ipus[stage++]);
    mapping.push_back(std::move(group));
  }
  return mapping;
}

/// Depth-first over the stages in their order, without branches that are already as long as the best.
class Search {
 public:
  Search(const std::vector<int>& levels, int ipus, std::vector<int> first, int hops)
      : taken_(static_cast<std::size_t>(ipus), false), best_(std::move(first)), best_hops_(hops) {
    int begin = 0;
    int before = 0;
    for (const int width : levels) {
      for (int i = 0; i < width; ++i) previous_level_.emplace_back(before, begin);
      before = begin;
      begin += width;
    }
  }

  std::vector<int> run() {
    place(0);
    return best_;
  }

 private:
  void place(int hops) {
    if (hops >= best_hops_) return;
    const std::size_t stage = placed_.size();
    if (stage == previous_level_.size()) {
      best_ = placed_;
      best_hops_ = hops;
      return;
    }
    for (std::size_t ipu = 0; ipu < taken_.size(); ++ipu) {
      if (taken_[ipu]) continue;
      taken_[ipu] = true;
      placed_.push_back(static_cast<int>(ipu));
      place(hops + hopsInto(stage));
      placed_.pop_back();
      taken_[ipu] = false;
    }
  }

  int hopsInto(std::size_t stage) const {
    int hops = 0;
    for (int from = previous_level_[stage].first; from < previous_level_[stage].second; ++from)
      hops += hopsBetween(placed_[static_cast<std::size_t>(from)], placed_[stage]);
    return hops;
  }

  std::vector<std::pair<int, int>> previous_level_;  // by stage: the stages [first, second)
  std::vector<bool> taken_;
  std::vector<int> placed_;
  std::vector<int> best_;
  int best_hops_;
};

}  // namespace

int hopsBetween(int from_ipu, int to_ipu) {
  return std::abs(from_ipu / 2 - to_ipu / 2) + std::abs(from_ipu % 2 - to_ipu % 2);
}

int hopsOf(const DeviceMapping& mapping) {
  int hops = 0;
  for (std::size_t level = 1; level < mapping.size(); ++level) {
    for (const int from : mapping[level - 1].ipus) {
      for (const int to : mapping[level].ipus) hops += hopsBetween(from, to);
    }
  }
  return hops;
}

DeviceMapping shortestMapping(const std::vector<int>& levels) {
  const int stages = std::accumulate(levels.begin(), levels.end(), 0);
  std::vector<int> ipus;
  for (int i = 0; i < stages; ++i) ipus.push_back(alongLadder(i, stages));
  const DeviceMapping ladder = mappingOf(levels, ipus);
  const bool is_chain = static_cast<int>(levels.size()) == stages;
  if (is_chain || stages > kMostSearched) return ladder;
  const int available = pop::pod::partitionIpus(stages);
  return mappingOf(levels, Search(levels, available, ipus, hopsOf(ladder)).run());
}

}  // namespace popdist::train
