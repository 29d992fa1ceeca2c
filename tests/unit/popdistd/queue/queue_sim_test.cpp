// SPDX-License-Identifier: Apache-2.0
// Ten thousand jobs on sixteen hosts and a Pod128, by seeds: what must hold whatever comes.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/unit/popdistd/queue/queue_world.h"

namespace pop::queue::testing {
namespace {

WorldResult simulate(const WorldSettings& settings) {
  WorldResult result = World(settings).run();
  std::printf(
      "seed %llu: mean wait %.1f min, longest %.1f min, slots used %.0f %%, in all %.1f h, promises %d\n",
      static_cast<unsigned long long>(settings.seed), static_cast<double>(result.mean_wait.count()) / 60000,
      static_cast<double>(result.longest_wait.count()) / 60000, 100 * result.slots_used,
      static_cast<double>(result.makespan.count()) / 3600000, result.promises);
  return result;
}

class QueueSim : public ::testing::TestWithParam<std::uint64_t> {};

// A day's wait counts as one of priority, and there are three of these.
TEST_P(QueueSim, NothingOverlapsNothingIsBrokenAndAllStart) {
  const WorldResult result = simulate({.seed = GetParam()});
  EXPECT_EQ(result.problems, std::vector<std::string>());
  EXPECT_EQ(result.started, 10000);
  EXPECT_GT(result.promises, 100);
  EXPECT_LT(result.longest_wait, std::chrono::hours(6));
}
INSTANTIATE_TEST_SUITE_P(Seeds, QueueSim, ::testing::Values(1, 2, 3));

WorldSettings smaller(std::uint64_t seed) {
  return {.seed = seed,
          .num_jobs = 1500,
          .percent_without_limit = 0,
          .with_quotas = false,
          .with_priorities = false};
}

TEST(QueueSimOnce, TheSameSeedGivesTheSameSchedule) {
  const WorldResult once = simulate(smaller(4));
  EXPECT_EQ(once.digest, simulate(smaller(4)).digest);
  EXPECT_NE(once.digest, simulate(smaller(5)).digest);
}

// With more jobs than fit, what matters is how full the hosts are.
TEST(QueueSimOnce, BackfillUsesWhatOrderLeavesIdle) {
  WorldSettings settings = smaller(6);
  settings.mean_gap = milliseconds(3000);
  const WorldResult filled = simulate(settings);
  settings.only_in_turn = true;
  const WorldResult in_turn = simulate(settings);
  EXPECT_GT(filled.slots_used, in_turn.slots_used * 1.1);
  EXPECT_LT(filled.makespan, in_turn.makespan);
  EXPECT_LT(filled.mean_wait, in_turn.mean_wait);
}

// Jobs without limits come without end, as many as there is room for; the large one has no known time.
TEST(QueueSimOnce, ALargeJobIsNotStarvedByJobsWithoutLimits) {
  WorldSettings settings = smaller(7);
  settings.percent_without_limit = 100;
  settings.mean_gap = milliseconds(6000);
  const WorldResult result = simulate(settings);
  EXPECT_EQ(result.problems, std::vector<std::string>());
  EXPECT_EQ(result.started, settings.num_jobs);
  EXPECT_LT(result.longest_wait, std::chrono::hours(6));
}

}  // namespace
}  // namespace pop::queue::testing
