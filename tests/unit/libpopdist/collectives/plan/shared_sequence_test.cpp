// SPDX-License-Identifier: Apache-2.0
// Shared plans back to back, as a program calls them: the stages are used in turn, and a rank may be a call
// ahead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/libpopdist/collectives/plan/shared_samples.h"

namespace popdist::plan {
namespace {

SharedSample randomSample(int ranks, const StageLayout& layout, pop::SplitMix64& random) {
  const auto way = static_cast<SharedWay>(random.below(5));
  const std::size_t room = layout.eager_bytes / static_cast<std::size_t>(ranks);
  const std::size_t count =
      random.below(way == SharedWay::kEager ? room : 2 * layout.slots.slots * layout.slots.slot_bytes);
  if (random.below(2) == 0) {
    return foldSample(way,
                      {.goal = static_cast<FoldGoal>(random.below(3)),
                       .ranks = ranks,
                       .count = count,
                       .root = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)))},
                      layout, random.below(2) == 0, random);
  }
  const auto flows = sampleFlows(ranks, count, random);
  return moveSample(way, flows[random.below(flows.size())].second, ranks, layout, random);
}

class SharedSequence : public ::testing::TestWithParam<int> {};

TEST_P(SharedSequence, OfAnyPlansHasNoRaces) {
  const int ranks = GetParam();
  const StageLayout layout = smallLayout(3);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    pop::SplitMix64 random(seed);
    std::vector<SharedSample> samples;
    for (int call = 0; call < 10; ++call) samples.push_back(randomSample(ranks, layout, random));
    ASSERT_EQ(runSamples(samples, ranks, layout, seed), "") << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, SharedSequence, ::testing::Values(1, 2, 3, 4),
                         [](const auto& param_info) { return std::to_string(param_info.param); });

// That the simulator sees what it is there for.

std::string errorWithout(SharedStepKind kind, Counter counter, FoldGoal goal) {
  const StageLayout layout = smallLayout(3);
  pop::SplitMix64 random(1);
  SharedSample sample =
      foldSample(SharedWay::kStaged, {.goal = goal, .ranks = 3, .count = 2000}, layout, false, random);
  for (SharedPart& part : sample.parts) {
    std::erase_if(part.plan.steps,
                  [&](const SharedStep& step) { return step.kind == kind && step.counter == counter; });
  }
  return runSamples({sample}, 3, layout, 1);
}

using ::testing::HasSubstr;

TEST(SharedPlanSimulator, FindsAMissingWait) {
  EXPECT_THAT(errorWithout(SharedStepKind::kAwait, Counter::kExported, FoldGoal::kAllReduce),
              HasSubstr("may be writing"));
  EXPECT_THAT(errorWithout(SharedStepKind::kAwait, Counter::kFolded, FoldGoal::kAllReduce),
              HasSubstr("may be writing"));
  EXPECT_THAT(errorWithout(SharedStepKind::kAwait, Counter::kDone, FoldGoal::kReduceScatter),
              HasSubstr("may be writing"));
}

TEST(SharedPlanSimulator, FindsAMissingPost) {
  EXPECT_THAT(errorWithout(SharedStepKind::kPost, Counter::kFolded, FoldGoal::kAllReduce),
              HasSubstr("waits for ever"));
}

TEST(SharedPlanSimulator, FindsAMissingParting) {
  const StageLayout layout = smallLayout(3);
  pop::SplitMix64 random(1);
  SharedSample sample = foldSample(SharedWay::kDirect, {.ranks = 2, .count = 100}, layout, false, random);
  sample.parts[0].plan.steps.pop_back();
  EXPECT_THAT(runSamples({sample}, 2, layout, 1), HasSubstr("may "));
}

}  // namespace
}  // namespace popdist::plan
