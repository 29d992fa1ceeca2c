// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/golden.h"

namespace pop {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ExplainPlan, NamesEveryInstanceWithItsShare) {
  const model::JobSpec spec{.programs = {{.command = {"./train", "--data", "/data"}, .num_instances = 2}},
                            .num_instances = 2,
                            .num_replicas = 4,
                            .ipus_per_replica = 2,
                            .system = "pod16"};
  EXPECT_EQ(explainPlan(spec), testing::golden("explain_2_instances.txt"));
}

TEST(ExplainPlan, SpeaksOfASingleReplicaAndIpuInTheSingular) {
  EXPECT_THAT(explainPlan({.programs = {{{"./train"}}}, .system = "pod4"}),
              HasSubstr("instance 0 on localhost: replica 0 on IPU 0, IPU-Link domain 0\n"));
}

TEST(ExplainPlan, SaysWhenNoPodIsLargeEnough) {
  const std::string text =
      explainPlan({.programs = {{{"./train"}, 16}}, .num_instances = 16, .num_replicas = 1024});
  EXPECT_THAT(text, HasSubstr("system: none is large enough, partition of 1024 IPUs\n"));
  EXPECT_THAT(text, Not(HasSubstr("POPDIST_SYSTEM")));
}

TEST(ExplainPlan, SaysWhenNoIpuIsAttached) {
  EXPECT_THAT(explainPlan({.programs = {{{"./train"}}}, .system = "pod4", .offline_mode = true}),
              HasSubstr("system: pod4 (offline: no IPU is attached), partition of 1 IPU\n"));
}

}  // namespace
}  // namespace pop
