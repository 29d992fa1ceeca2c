// SPDX-License-Identifier: Apache-2.0
// The default mapping beside every other one, and hops beside the routes of the Pod's model.
#include "libpopdist/train/schedule/mapping.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "pod/system/routes.h"

namespace popdist::train {
namespace {

// The fewest hops of all ways to give stages IPUs of their own.
int fewestHops(const std::vector<int>& levels, int ipus) {
  const int stages = std::accumulate(levels.begin(), levels.end(), 0);
  std::vector<int> chosen;
  int fewest = 1 << 30;
  const auto place = [&](auto& self) -> void {
    if (static_cast<int>(chosen.size()) == stages) {
      int hops = 0;
      std::size_t before = 0;
      std::size_t begin = static_cast<std::size_t>(levels[0]);
      for (std::size_t level = 1; level < levels.size(); ++level) {
        const std::size_t end = begin + static_cast<std::size_t>(levels[level]);
        for (std::size_t from = before; from < begin; ++from) {
          for (std::size_t to = begin; to < end; ++to) hops += hopsBetween(chosen[from], chosen[to]);
        }
        before = begin;
        begin = end;
      }
      fewest = std::min(fewest, hops);
      return;
    }
    for (int ipu = 0; ipu < ipus; ++ipu) {
      if (std::count(chosen.begin(), chosen.end(), ipu) > 0) continue;
      chosen.push_back(ipu);
      self(self);
      chosen.pop_back();
    }
  };
  place(place);
  return fewest;
}

TEST(DefaultMapping, HasNoMoreHopsThanAnyOther) {
  const std::vector<std::vector<int>> cases = {
      {1, 1}, {1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}, {1, 2}, {1, 2, 1},
      {2, 2}, {1, 3, 1}, {2, 1, 2},    {1, 4, 1},       {1, 2, 1, 1},       {3, 3}, {1, 2, 2, 1}};
  for (const std::vector<int>& levels : cases) {
    const int stages = std::accumulate(levels.begin(), levels.end(), 0);
    EXPECT_EQ(hopsOf(shortestMapping(levels)), fewestHops(levels, stages <= 2 ? 2 : stages <= 4 ? 4 : 8));
  }
}

TEST(DefaultMapping, OfAChainFollowsTheLadder) {
  EXPECT_EQ(shortestMapping(chain(4)), (DeviceMapping{0, 1, 3, 2}));
  for (int stages = 2; stages <= 64; ++stages) {
    const DeviceMapping mapping = shortestMapping(chain(stages));
    EXPECT_EQ(hopsOf(mapping), stages - 1);
    std::set<int> ipus;
    for (const DeviceGroup& group : mapping) ipus.insert(group.ipus[0]);
    EXPECT_EQ(static_cast<int>(ipus.size()), stages);
    EXPECT_EQ(*ipus.rbegin(), stages - 1) << "no IPU is left out";
  }
}

TEST(DefaultMapping, CountsHopsAsThePodRoutes) {
  const auto spec = pop::pod::podSpecByName("pod64");
  ASSERT_TRUE(spec.ok());
  const pop::pod::Topology topology(spec.value());
  for (int from = 0; from < 64; ++from) {
    for (int to = 0; to < 64; ++to)
      EXPECT_EQ(hopsBetween(from, to), static_cast<int>(pop::pod::route(topology, from, to).size()));
  }
}

TEST(DefaultMapping, GivesManyStagesIpusOfTheirOwn) {
  const DeviceMapping mapping = shortestMapping({1, 8, 1});
  std::set<int> ipus;
  for (const DeviceGroup& group : mapping) ipus.insert(group.ipus.begin(), group.ipus.end());
  EXPECT_EQ(ipus.size(), 10U);
}

}  // namespace
}  // namespace popdist::train
