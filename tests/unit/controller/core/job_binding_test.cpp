// SPDX-License-Identifier: Apache-2.0
// The CPUs that a job's instances are told to take, and the messages about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/topologies.h"
#include "tests/unit/controller/core/job_fixture.h"

namespace pop {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::grid;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> cpusOf(const JobSlice& slice) {
  std::vector<std::string> texts;
  for (const InstanceOrder& order : slice.instances) texts.push_back(order.binding.cpus.text());
  return texts;
}

std::vector<std::string> warningsIn(const JobFixture& job) {
  std::vector<std::string> warnings;
  for (const LogEntry& entry : job.entries()) {
    if (entry.kind == EventKind::kWarning) warnings.push_back(entry.text);
  }
  return warnings;
}

TEST(JobBinding, FollowsTheTopologyOfEachHost) {
  JobFixture fixture(2, 4);
  fixture.agent(0).topology = grid(2, 4);
  fixture.agent(1).topology = grid(2, 2);
  fixture.job().start();
  EXPECT_THAT(cpusOf(fixture.agent(0).slice), ElementsAre("0-3", "4-7"));
  EXPECT_THAT(cpusOf(fixture.agent(1).slice), ElementsAre("0-1", "2-3"));
  EXPECT_EQ(fixture.agent(0).detail_asked, model::TopologyDetail::kNodes);
  EXPECT_THAT(warningsIn(fixture), IsEmpty());
}

TEST(JobBinding, IsToldBeforeAnythingStarts) {
  JobFixture fixture(1, 2);
  fixture.agent(0).topology = grid(2, 4);
  fixture.job().start();
  ASSERT_EQ(fixture.placed().size(), 2U);
  EXPECT_EQ(fixture.placed()[1].host, "node1");
  EXPECT_EQ(fixture.placed()[1].binding.cpus.text(), "4-7");
  EXPECT_EQ(fixture.runsWhenPlaced(), 0);
}

TEST(JobBinding, WarnsOnceOfWhatIsTrueOfSeveralHosts) {
  JobFixture fixture(3, 9);
  for (int host = 0; host < 3; ++host) fixture.agent(host).topology = grid(2, 4);
  fixture.job().start();
  EXPECT_THAT(warningsIn(fixture), ElementsAre(AllOf(HasSubstr("on host node1 and 2 other hosts"),
                                                     HasSubstr("3 instances share 2 memory nodes"))));
}

TEST(JobBinding, ThatCannotBeDoneFailsTheJobNamingHostAndOption) {
  model::JobSpec spec = JobFixture::specFor(2, 2);
  spec.binding = {.mode = model::BindMode::kExplicit, .explicit_cpus = {model::CpuSet({6})}};
  JobFixture fixture(spec);
  fixture.agent(0).topology = grid(2, 4);
  fixture.agent(1).topology = grid(2, 2);
  fixture.job().start();
  ASSERT_TRUE(fixture.done());
  EXPECT_EQ(fixture.outcome().exit_code, contract::kExitLauncherFailed);
  EXPECT_THAT(fixture.outcome().failure->reason,
              AllOf(HasSubstr("host node2"), HasSubstr("--process-placement"), HasSubstr("CPU 6")));
  EXPECT_EQ(fixture.agent(0).runs, 0);
}

}  // namespace
}  // namespace pop
