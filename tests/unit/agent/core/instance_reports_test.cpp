// SPDX-License-Identifier: Apache-2.0
// Reports of instances about themselves, for launchers and daemons that ask for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/agent/core/agent_core_fixture.h"

namespace pop::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using InstanceReports = AgentCoreTest;

TEST_F(InstanceReports, LooksEachSecondAtWhatInstancesReportIfSomebodyWantsToKnow) {
  JobSlice wanted = slice();
  wanted.reports_wanted = true;
  core.run(std::move(wanted), events);
  core.onSpawned(4, 704);
  core.onSpawned(5, 705);
  events.lines.clear();
  rendezvous.reported = {{4, "loss", contract::Fold::kMean, 0.5}};
  loop.advance(milliseconds(999));
  EXPECT_THAT(events.lines, IsEmpty());
  loop.advance(milliseconds(1));
  EXPECT_THAT(events.lines, ElementsAre("reported 4: loss"));
  loop.advance(milliseconds(5000));
  EXPECT_EQ(events.lines.size(), 1U) << "nothing has changed";
  rendezvous.reported = {{5, "steps", contract::Fold::kMax, 7}};
  events.lines.clear();
  core.onReaped(5, {});
  EXPECT_THAT(events.lines, ElementsAre("reported 5: steps", "ended 5: exited with code 0"));
}

TEST_F(InstanceReports, LooksAtNothingThatNobodyWantsToKnow) {
  runAndStart();
  rendezvous.reported = {{4, "loss", contract::Fold::kMean, 0.5}};
  loop.advance(milliseconds(5000));
  core.onReaped(4, {});
  EXPECT_EQ(rendezvous.reported.size(), 1U);
}

}  // namespace
}  // namespace pop::agent
