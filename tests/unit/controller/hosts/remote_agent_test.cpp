// SPDX-License-Identifier: Apache-2.0
#include "controller/hosts/remote_agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/unit/controller/hosts/remote_agent_fixture.h"

namespace pop {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(RemoteAgentTest, NumbersItsCommandsFromOne) {
  runs();
  agent.signal(SIGUSR1);
  agent.stop();
  agent.kill();
  std::vector<std::uint64_t> numbers;
  for (const NumberedCommand& each : link.sent) numbers.push_back(each.number);
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(std::get<SignalCommand>(link.sent[1].command).signal, SIGUSR1);
}

TEST_F(RemoteAgentTest, KeepsWhatIsAskedBeforeTheLinkIsUp) {
  agent.describe(2, model::TopologyDetail::kNodes, [](const Result<HostFacts>&) {});
  loop.advance(milliseconds(60'000));
  EXPECT_FALSE(agent.lost()) << "how long a host may take to be reached is another's business";
  agent.linkUp(link);
  ASSERT_EQ(link.all<DescribeCommand>().size(), 1U);
  EXPECT_EQ(link.all<DescribeCommand>()[0].port_count, 2);
}

TEST_F(RemoteAgentTest, AsksBeforeTheLinkIsUp) {
  int answers = 0;
  agent.describe(2, model::TopologyDetail::kNodes, [&](const Result<HostFacts>&) { ++answers; });
  agent.linkOpen(link);
  EXPECT_EQ(link.all<DescribeCommand>().size(), 1U);
  EXPECT_FALSE(agent.isUp());
  agent.stop();
  EXPECT_EQ(link.sent.size(), 1U) << "what does not only ask waits";
  loop.advance(milliseconds(60'000));
  EXPECT_FALSE(agent.lost());
  agent.linkUp(link);
  report(DescribedReport{{}, {.address = {}, .ports = {10000, 10001}, .topology = {}}});
  EXPECT_EQ(answers, 1);
  ASSERT_EQ(link.all<StopCommand>().size(), 1U);
  EXPECT_EQ(link.sent[1].number, 2U);
  EXPECT_EQ(link.all<DescribeCommand>().size(), 1U);
}

TEST_F(RemoteAgentTest, KeepsTheOrderWhileTheLinkIsOpenOnly) {
  agent.linkOpen(link);
  agent.stop();
  agent.describe(2, model::TopologyDetail::kNodes, [](const Result<HostFacts>&) {});
  EXPECT_THAT(link.sent, IsEmpty());
  agent.linkUp(link);
  ASSERT_EQ(link.sent.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<StopCommand>(link.sent[0].command));
}

TEST_F(RemoteAgentTest, SaysNothingOverALinkThatOpensTooLate) {
  agent.describe(2, model::TopologyDetail::kNodes, [](const Result<HostFacts>&) {});
  agent.linkLost(unavailable("gone"));
  agent.linkOpen(link);
  EXPECT_THAT(link.sent, IsEmpty());
}

TEST_F(RemoteAgentTest, PassesReportsOn) {
  runs();
  report(StartedReport{4, 700});
  report(AbortedReport{4, 3, "no data"});
  report(FenceReachedReport{FenceId::kInstances, {{"a", "1"}}});
  report(EndedReport{4, {{.code = 3}, ""}});
  report(ClosedReport{4});
  EXPECT_THAT(events.lines, ElementsAre("started 4 pid 700", "aborted 4: 3, no data",
                                        "ended 4: exited with code 3", "closed 4"));
  EXPECT_EQ(events.fences.size(), 1U);
}

// Its instances gave up waiting and came back while the fence was opened for them.
TEST_F(RemoteAgentTest, AFenceReachedAgainWhileItsReleaseIsOnItsWayIsNotTheNextOne) {
  runs();
  report(FenceReachedReport{FenceId::kInstances, {{"a", "1"}}});
  agent.releaseFence(FenceId::kInstances, std::make_shared<const PutValues>());
  report(FenceReachedReport{FenceId::kInstances, {{"b", "1"}, {"c", "1"}}});
  EXPECT_EQ(events.fences.size(), 1U);
  report(FenceReachedReport{FenceId::kInstances, {{"c", "2"}}, 1});
  ASSERT_EQ(events.fences.size(), 2U);
  EXPECT_EQ(events.fences[1], (PutValues{{"b", "1"}, {"c", "2"}})) << "what was put is not lost";
}

TEST_F(RemoteAgentTest, BeginsEachRunWithItsFirstFence) {
  runs();
  report(FenceReachedReport{});
  agent.releaseFence(FenceId::kInstances, std::make_shared<const PutValues>());
  agent.run(slice(), events);
  report(FenceReachedReport{});
  EXPECT_EQ(events.fences.size(), 2U);
}

TEST_F(RemoteAgentTest, DropsWhatComesTwice) {
  runs();
  agent.receive({1, StartedReport{4, 700}});
  agent.receive({1, StartedReport{4, 700}});
  EXPECT_THAT(events.lines, ElementsAre("started 4 pid 700"));
  EXPECT_FALSE(agent.lost());
}

TEST_F(RemoteAgentTest, ALinkThatLeavesSomethingOutIsLost) {
  runs();
  agent.receive({1, StartedReport{4, 700}});
  agent.receive({3, StartedReport{5, 701}});
  EXPECT_THAT(events.lines, ElementsAre("started 4 pid 700")) << "from the loop only";
  settle();
  EXPECT_THAT(events.lines,
              ElementsAre("started 4 pid 700", "lost: message 3 followed message 1 on its link"));
  EXPECT_EQ(link.closed, 1);
}

TEST_F(RemoteAgentTest, SilenceOfFiveSecondsIsItsLoss) {
  runs();
  loop.advance(milliseconds(4000));
  report(HeartbeatReport{});
  loop.advance(milliseconds(4999));
  EXPECT_THAT(events.lines, IsEmpty());
  loop.advance(milliseconds(1));
  EXPECT_THAT(events.lines, ElementsAre("lost: nothing was received for 5 s (--host-silence)"));
  EXPECT_EQ(link.closed, 1);
  EXPECT_EQ(link.all<HeartbeatCommand>().size(), 8U);
}

class KilledAgent : public RemoteAgentTest {
 protected:
  KilledAgent() {
    runs();
    agent.kill();
  }
  void live(milliseconds duration) {
    for (milliseconds lived{0}; lived < duration; lived += milliseconds(1000)) {
      loop.advance(milliseconds(1000));
      report(HeartbeatReport{});
    }
  }

  static constexpr const char* kLoss =
      "lost: its agent has not reported within 7 s that its instances have ended after it was told to kill "
      "them";
};

TEST_F(KilledAgent, IsLostWhenItLivesAndReportsNoEnds) {
  live(milliseconds(6000));
  EXPECT_THAT(events.lines, IsEmpty());
  agent.kill();
  live(milliseconds(1000));
  EXPECT_THAT(events.lines, ElementsAre(kLoss)) << "to be told again gives it no more time";
  EXPECT_EQ(link.closed, 1);
}

TEST_F(KilledAgent, IsNotLostWhenAllHaveEnded) {
  for (const int instance : {4, 5}) {
    report(StartedReport{instance, 700});
    report(EndedReport{instance, {{.signal = SIGKILL}, ""}});
    report(ClosedReport{instance});
  }
  live(milliseconds(60'000));
  EXPECT_FALSE(agent.lost());
}

TEST_F(KilledAgent, IsNotLostForOutputThatWeHaveHeldBack) {
  output.full = true;
  report(OutputReport{4, Stream::kStdout, "x"});
  live(milliseconds(60'000));
  EXPECT_FALSE(agent.lost());
  output.drain();
  live(milliseconds(14'000));
  EXPECT_TRUE(agent.lost()) << "nothing holds it back any more";
}

TEST_F(KilledAgent, MayRunAgainWhenAllHaveEnded) {
  for (const int instance : {4, 5}) {
    report(EndedReport{instance, {{.signal = SIGKILL}, ""}});
    report(ClosedReport{instance});
  }
  agent.run(slice(), events);
  live(milliseconds(60'000));
  EXPECT_FALSE(agent.lost());
}

TEST_F(RemoteAgentTest, IsAwaitedUntilItHasSaidWhatItsHostIsLike) {
  agent.describe(0, {}, [](const Result<HostFacts>&) {});
  EXPECT_TRUE(agent.isAwaited());
  agent.linkUp(link);
  EXPECT_TRUE(agent.isAwaited());
  report(DescribedReport{});
  EXPECT_FALSE(agent.isAwaited());
}

TEST_F(RemoteAgentTest, IsAwaitedNoMoreWhenItIsLost) {
  agent.describe(0, {}, [](const Result<HostFacts>&) {});
  agent.linkLost(unavailable("connection refused"));
  EXPECT_FALSE(agent.isAwaited());
}

TEST_F(RemoteAgentTest, ALossAfterALongStopOfOurOwnIsSaidToBeOurs) {
  runs();
  loop.stopFor(milliseconds(7500));
  agent.linkLost(unavailable("broken pipe"));
  settle();
  EXPECT_THAT(events.lines, ElementsAre("lost: poprun did not run for over 5 s (was it stopped?); an agent "
                                        "that receives nothing for that long ends its job (--host-silence)"));
}

TEST_F(RemoteAgentTest, ALossAfterAStopThatItKnewOfHasAReasonOfItsOwn) {
  runs();
  agent.signal(SIGSTOP);
  loop.stopFor(milliseconds(7500));
  agent.signal(SIGCONT);
  agent.linkLost(unavailable("broken pipe"));
  settle();
  EXPECT_THAT(events.lines, ElementsAre("lost: broken pipe"));
}

TEST_F(RemoteAgentTest, AStopIsConfirmedByItsReportOrItsLoss) {
  runs();
  int confirmed = 0;
  agent.setOnStopConfirmed([&confirmed] { ++confirmed; });
  EXPECT_TRUE(agent.confirmsStop());
  agent.signal(SIGSTOP);
  EXPECT_FALSE(agent.confirmsStop());
  report(StoppedReport{});
  EXPECT_TRUE(agent.confirmsStop());
  agent.signal(SIGSTOP);
  agent.linkLost(unavailable("broken pipe"));
  settle();
  EXPECT_TRUE(agent.confirmsStop());
  EXPECT_EQ(confirmed, 2);
}

TEST_F(RemoteAgentTest, OtherSignalsDoNotHideThatAStopIsConfirmed) {
  runs();
  int confirmed = 0;
  agent.setOnStopConfirmed([&confirmed] { ++confirmed; });
  agent.signal(SIGSTOP);
  agent.signal(SIGUSR1);
  EXPECT_FALSE(agent.confirmsStop());
  report(StoppedReport{});
  EXPECT_TRUE(agent.confirmsStop());
  EXPECT_EQ(confirmed, 1);
}

TEST_F(RemoteAgentTest, WhatConfirmsAStopThatWasTakenBackDoesNotConfirmTheNext) {
  runs();
  for (const int signal : {SIGSTOP, SIGCONT, SIGSTOP}) agent.signal(signal);
  report(StoppedReport{});
  EXPECT_FALSE(agent.confirmsStop());
  report(StoppedReport{});
  EXPECT_TRUE(agent.confirmsStop());
}

// It serves from its hello on, and would take silence for the end.
TEST_F(RemoteAgentTest, AStopIsConfirmedByAnAgentThatHasNotAnsweredYet) {
  agent.signal(SIGSTOP);
  EXPECT_TRUE(agent.confirmsStop()) << "nobody is there";
  agent.linkOpen(link);
  EXPECT_FALSE(agent.confirmsStop());
  agent.linkUp(link);
  EXPECT_EQ(link.all<SignalCommand>().size(), 1U);
  EXPECT_FALSE(agent.confirmsStop());
  report(StoppedReport{});
  EXPECT_TRUE(agent.confirmsStop());
}

TEST_F(RemoteAgentTest, ALostAgentAnswersEverythingAndDoesNothing) {
  runs();
  agent.linkLost(unavailable("connection reset"));
  const std::size_t sent = link.sent.size();
  std::string described;
  std::optional<std::size_t> traces;
  agent.describe(0, {}, [&](const Result<HostFacts>& facts) { described = facts.status().message(); });
  agent.traceStacks([&](const std::vector<StackTrace>& all) { traces = all.size(); });
  agent.stop();
  agent.signal(SIGUSR1);
  agent.offerInput("lost");
  agent.receive({1, StartedReport{4, 700}});
  settle();
  EXPECT_EQ(described, "connection reset");
  EXPECT_EQ(traces, 0U);
  EXPECT_THAT(events.lines, ElementsAre("lost: connection reset"));
  agent.run(slice(), events);
  settle();
  EXPECT_THAT(events.lines, ElementsAre("lost: connection reset", "lost: connection reset"));
  EXPECT_EQ(link.sent.size(), sent);
  EXPECT_EQ(agent.inputRoom(), static_cast<std::size_t>(kInputWindowBytes));
}

TEST_F(RemoteAgentTest, MayBeLostBeforeItWasEverReached) {
  std::string described;
  agent.linkLost(unavailable("ssh: connection refused"));
  agent.describe(0, {}, [&](const Result<HostFacts>& facts) { described = facts.status().message(); });
  EXPECT_EQ(described, "");
  settle();
  EXPECT_EQ(described, "ssh: connection refused");
  agent.linkUp(link);
  EXPECT_EQ(link.closed, 1) << "too late";
}

TEST_F(RemoteAgentTest, AcknowledgesOutputInPartsOfItsWindow) {
  runs();
  const std::string piece(100'000, 'x');
  for (int each = 0; each < 3; ++each) report(OutputReport{4, Stream::kStdout, piece});
  ASSERT_EQ(link.all<OutputTakenCommand>().size(), 1U);
  EXPECT_EQ(link.all<OutputTakenCommand>()[0].bytes, 300'000);
}

TEST_F(RemoteAgentTest, HoldsTheAgentBackWhileTheSinkIsFull) {
  runs();
  output.full = true;
  const std::string piece(500'000, 'x');
  for (int each = 0; each < 2; ++each) report(OutputReport{5, Stream::kStderr, piece});
  EXPECT_THAT(link.all<OutputTakenCommand>(), IsEmpty());
  output.drain();
  ASSERT_EQ(link.all<OutputTakenCommand>().size(), 1U);
  EXPECT_EQ(link.all<OutputTakenCommand>()[0].bytes, 1'000'000);
}

TEST_F(RemoteAgentTest, HasRoomForAWindowOfInput) {
  runs();
  int ready = 0;
  agent.setOnInputReady([&ready] { ++ready; });
  EXPECT_EQ(agent.inputRoom(), static_cast<std::size_t>(kInputWindowBytes));
  agent.offerInput(std::string(static_cast<std::size_t>(kInputWindowBytes), 'i'));
  EXPECT_EQ(agent.inputRoom(), 0U);
  report(InputTakenReport{1000});
  EXPECT_EQ(agent.inputRoom(), 1000U);
  EXPECT_EQ(ready, 1);
  report(InputTakenReport{1'000'000'000});
  EXPECT_EQ(agent.inputRoom(), static_cast<std::size_t>(kInputWindowBytes)) << "never more";
}

TEST_F(RemoteAgentTest, KnowsWhatOfTheInputWasRead) {
  runs();
  agent.offerInput("0123456789");
  report(EndedReport{4, {}, 3});
  EXPECT_EQ(agent.inputRead(), 3);
  report(EndedReport{5, {}, 1'000'000});
  EXPECT_EQ(agent.inputRead(), 10) << "never more than there was";
}

TEST(RemoteAgent, ThatGoesClosesItsLinkAndLeavesNoTimer) {
  testing::FakeLoop loop;
  testing::FakeOutput output;
  RecordedLink link;
  {
    RemoteAgent agent(loop, output);
    agent.linkUp(link);
  }
  EXPECT_EQ(link.closed, 1);
  EXPECT_EQ(loop.armedTimers(), 0U);
}

}  // namespace
}  // namespace pop
