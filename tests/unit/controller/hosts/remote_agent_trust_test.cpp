// SPDX-License-Identifier: Apache-2.0
// Claims of a remote agent that are believed, and the part of them that is kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <optional>

#include "tests/unit/controller/hosts/remote_agent_fixture.h"

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(RemoteAgentTest, AnAgentThatReportsNonsenseIsLostAndNotBelieved) {
  const std::pair<AgentReport, std::string> nonsense[] = {
      {StartedReport{3, 1},
       "lost: its agent reports that instance 3 has started, which it was not asked to start"},
      {EndedReport{6, {}},
       "lost: its agent reports that instance 6 has ended, which it was not asked to start"},
      {ClosedReport{4}, "lost: its agent reports out of order that instance 4 is closed"},
      {OutputReport{-1, Stream::kStdout, "x"},
       "lost: its agent reports that instance -1 writes, which it was not asked to start"},
      {AbortedReport{1 << 30, 1, ""},
       "lost: its agent reports that instance 1073741824 asks to end the job, which it was not asked to "
       "start"},
      {ValuesReport{{{3, "loss", contract::Fold::kSum, 1}}},
       "lost: its agent reports that instance 3 reports a value, which it was not asked to start"},
      {EndedReport{4, {{.code = 256}, ""}},
       "lost: its agent reports that instance 4 exited with code 256, which is impossible"},
      {EndedReport{4, {{.code = -1}, ""}},
       "lost: its agent reports that instance 4 exited with code -1, which is impossible"},
      {EndedReport{5, {{.signal = NSIG}, ""}},
       "lost: its agent reports that instance 5 was killed by signal 65, which is impossible"},
      {EndedReport{5, {{.signal = -1}, ""}},
       "lost: its agent reports that instance 5 was killed by signal -1, which is impossible"},
      {AbortedReport{4, 0, ""},
       "lost: its agent reports that instance 4 asks to end the job with code 0, which is impossible"},
      {AbortedReport{4, 256, ""},
       "lost: its agent reports that instance 4 asks to end the job with code 256, which is impossible"},
  };
  for (const auto& [report, lost] : nonsense) {
    testing::RecordedEvents heard;
    RecordedLink way;
    RemoteAgent other(loop, output);
    other.linkUp(way);
    other.run(slice(), heard);
    other.receive({1, report});
    settle();
    EXPECT_THAT(heard.lines, ElementsAre(lost));
  }
  EXPECT_THAT(output.lines, IsEmpty());
}

TEST_F(RemoteAgentTest, AnAgentThatReportsOtherPortsThanItWasAskedForIsLost) {
  const std::pair<std::vector<int>, std::string> nonsense[] = {
      {{10000}, "its agent reports 1 port instead of 2"},
      {{10000, 10001, 10002}, "its agent reports 3 ports instead of 2"},
      {{10000, 0}, "its agent reports port 0, which is impossible"},
      {{65536, 10000}, "its agent reports port 65536, which is impossible"},
  };
  for (const auto& [ports, lost] : nonsense) {
    std::string described;
    RecordedLink way;
    RemoteAgent other(loop, output);
    other.linkUp(way);
    other.describe(2, {}, [&](const Result<HostFacts>& facts) { described = facts.status().message(); });
    other.receive({1, DescribedReport{{}, {.address = {}, .ports = ports, .topology = {}}}});
    settle();
    EXPECT_EQ(described, lost);
    EXPECT_EQ(way.closed, 1);
  }
}

TEST_F(RemoteAgentTest, AnAgentThatSendsOutputWithoutEndToAFullSinkIsLost) {
  runs();
  output.full = true;
  const std::string piece(static_cast<std::size_t>(kOutputWindowBytes), 'x');
  for (int each = 0; each < 3; ++each) report(OutputReport{4, Stream::kStdout, piece});
  EXPECT_FALSE(agent.lost()) << "two instances may have left something in their pipes";
  for (int each = 0; each < 100; ++each) report(OutputReport{4, Stream::kStdout, piece});
  settle();
  EXPECT_THAT(events.lines, ElementsAre("lost: its agent sends more output than its window allows"));
  EXPECT_EQ(output.bytes, 3 * piece.size());
}

TEST_F(RemoteAgentTest, AnAgentThatReportsStacksOfInstancesThatItDoesNotRunIsLost) {
  const std::pair<std::vector<StackTrace>, std::string> nonsense[] = {
      {{{3, 1, "main"}},
       "lost: its agent reports that instance 3 has a stack, which it was not asked to start"},
      {{{4, 1, ""}, {5, 2, ""}, {4, 1, ""}},
       "lost: its agent reports stacks of more instances than it was asked to start"},
  };
  for (const auto& [traces, lost] : nonsense) {
    std::optional<std::size_t> traced;
    testing::RecordedEvents heard;
    RecordedLink way;
    RemoteAgent other(loop, output);
    other.linkUp(way);
    other.run(slice(), heard);
    other.receive({1, StacksReport{traces}});
    settle();
    EXPECT_THAT(heard.lines, IsEmpty()) << "nobody has asked";
    other.traceStacks([&](const std::vector<StackTrace>& all) { traced = all.size(); });
    other.receive({2, StacksReport{traces}});
    settle();
    EXPECT_THAT(heard.lines, ElementsAre(lost));
    EXPECT_EQ(traced, 0U);
  }
}

TEST_F(RemoteAgentTest, AnAgentThatPutsWithoutEndIntoOneFenceIsLost) {
  runs();
  std::size_t put = 0;
  for (int key = 0; key < 200; ++key) {
    report(FenceReachedReport{FenceId::kInstances, {{std::to_string(key), std::string(1 << 20, 'x')}}});
    put = events.fences.size();
  }
  settle();
  EXPECT_THAT(events.lines, ElementsAre("lost: its agent reports more than 128 MiB of values for one fence"));
  EXPECT_EQ(put, 127U);
}

// Its instances have given up waiting for others, and come again with what they put.
TEST_F(RemoteAgentTest, WhatIsPutAgainForOneFenceCountsOnce) {
  runs();
  for (int time = 0; time < 200; ++time)
    report(FenceReachedReport{FenceId::kInstances, {{"key", std::string(1 << 20, 'x')}}});
  EXPECT_FALSE(agent.lost());
}

TEST_F(RemoteAgentTest, AnAgentThatIsAheadOfItsFencesIsLost) {
  runs();
  report(FenceReachedReport{FenceId::kInstances, {}, 1});
  settle();
  EXPECT_THAT(events.lines,
              ElementsAre("lost: its agent reports a fence behind one that has not been released"));
}

TEST_F(RemoteAgentTest, HearsOnceOfEachInstanceThatItAsksForTheEnd) {
  runs();
  for (const int instance : {4, 5, 4, 4}) report(AbortedReport{instance, 3, "no data"});
  EXPECT_THAT(events.lines, ElementsAre("aborted 4: 3, no data", "aborted 5: 3, no data"));
}

// Each time that a fence opens, the agent has reported as much again for it, and then reports as much for the
// next one.
TEST_F(RemoteAgentTest, EachFenceHasRoomOfItsOwnBesideWhatCrossesARelease) {
  runs();
  const std::string much(63 << 20, 'x');
  for (int fence = 0; fence < 3; ++fence) {
    report(FenceReachedReport{FenceId::kInstances, {{"for " + std::to_string(fence), much}}, fence});
    agent.releaseFence(FenceId::kInstances, std::make_shared<const PutValues>());
    report(FenceReachedReport{FenceId::kInstances, {{"late for " + std::to_string(fence), much}}, fence});
  }
  EXPECT_FALSE(agent.lost());
}

}  // namespace
}  // namespace pop
