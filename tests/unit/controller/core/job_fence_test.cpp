// SPDX-License-Identifier: Apache-2.0
// Fences: gathered by each agent, joined by the controller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controller/core/job_fixture.h"

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(JobFence, OpensWhenTheLastHostHasReachedItWithEverybodysValues) {
  JobFixture job(2, 2);
  job.startAll();
  job.agent(0).events->onFenceReached(FenceId::kInstances, {{"address/0", "a"}});
  EXPECT_THAT(job.agent(0).released, IsEmpty());
  job.agent(1).events->onFenceReached(FenceId::kInstances, {{"address/1", "b"}});
  const PutValues everybody{{"address/0", "a"}, {"address/1", "b"}};
  EXPECT_THAT(job.agent(0).released, ElementsAre(everybody));
  EXPECT_THAT(job.agent(1).released, ElementsAre(everybody));
}

TEST(JobFence, OfASingleHostOpensAtOnce) {
  JobFixture job(1, 4);
  job.startAll();
  job.agent(0).events->onFenceReached(FenceId::kInstances, {{"key", "value"}});
  EXPECT_THAT(job.agent(0).released, ElementsAre(PutValues{{"key", "value"}}));
}

TEST(JobFence, TheNextOneWaitsForEveryHostAgainAndRepeatsNothing) {
  JobFixture job(2, 2);
  job.startAll();
  job.agent(1).events->onFenceReached(FenceId::kInstances, {{"round/1", "b"}});
  job.agent(0).events->onFenceReached(FenceId::kInstances, {{"round/1/0", "a"}});
  job.agent(1).events->onFenceReached(FenceId::kInstances, {});
  EXPECT_EQ(job.agent(0).released.size(), 1U) << "host 0 has not come back";
  job.agent(0).events->onFenceReached(FenceId::kInstances, {{"round/2", "c"}});
  ASSERT_EQ(job.agent(1).released.size(), 2U);
  EXPECT_THAT(job.agent(1).released[1],
              ElementsAre(std::pair<const std::string, std::string>("round/2", "c")));
}

TEST(JobFence, AKeyThatTwoHostsPutDoesNotComeBackLater) {
  JobFixture job(2, 2);
  job.startAll();
  for (int host = 0; host < 2; ++host)
    job.agent(host).events->onFenceReached(FenceId::kInstances, {{"same", "old"}});
  EXPECT_THAT(job.agent(0).released, ElementsAre(PutValues{{"same", "old"}}));
  for (int host = 0; host < 2; ++host) job.agent(host).events->onFenceReached(FenceId::kInstances, {});
  EXPECT_THAT(job.agent(0).released.at(1), IsEmpty());
}

TEST(JobFence, AHostThatComesTwiceLosesNoValue) {
  // Its instances gave up waiting, and entered again: what they had put is with the controller only.
  JobFixture job(2, 2);
  job.startAll();
  job.agent(0).events->onFenceReached(FenceId::kInstances, {{"address/0", "a"}});
  job.agent(0).events->onFenceReached(FenceId::kInstances, {});
  job.agent(1).events->onFenceReached(FenceId::kInstances, {{"address/1", "b"}});
  EXPECT_THAT(job.agent(1).released, ElementsAre(PutValues{{"address/0", "a"}, {"address/1", "b"}}));
}

}  // namespace
}  // namespace pop
