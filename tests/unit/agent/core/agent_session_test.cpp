// SPDX-License-Identifier: Apache-2.0
#include "agent/core/agent_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <optional>

#include "tests/testing/fake_agent.h"
#include "tests/testing/fake_loop.h"

namespace pop::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

class RecordedLink final : public ReportLink {
 public:
  void send(NumberedReport report) override { sent.push_back(std::move(report)); }
  void close() override { ++closed; }

  std::vector<NumberedReport> sent;
  int closed = 0;
};

class RecordedInput final : public InputSink {
 public:
  void write(std::string bytes) override { got += bytes; }
  void end() override { got += "<end>"; }
  std::int64_t read() const override { return 4; }
  void setOnTaken(std::function<void(std::int64_t)> on_taken) override { taken = std::move(on_taken); }

  std::string got;
  std::function<void(std::int64_t)> taken;
};

class AgentSessionTest : public ::testing::Test {
 protected:
  AgentSessionTest() { session.serve(agent); }

  void command(AgentCommand command) { session.receive({++commanded, std::move(command)}); }
  template <typename Report>
  const Report& last() {
    return std::get<Report>(link.sent.back().report);
  }
  void settle() { loop.advance(milliseconds(0)); }

  testing::FakeLoop loop;
  RecordedLink link;
  RecordedInput input;
  testing::FakeAgent agent;
  std::uint64_t commanded = 0;
  std::optional<Status> over;
  AgentSession session{loop, link, input, [this](const Status& why) { over = why; }};
};

TEST_F(AgentSessionTest, CarriesOutCommands) {
  command(RunCommand{{.job_id = "4f2a"}});
  command(SignalCommand{SIGUSR1});
  command(StopCommand{});
  command(KillCommand{});
  command(ReleaseFenceCommand{FenceId::kInstances, std::make_shared<const PutValues>(PutValues{{"a", "1"}})});
  command(AnnounceCommand{std::make_shared<const std::vector<EndNotice>>(
      std::vector<EndNotice>{{.instance = 7}, {.instance = 9}})});
  EXPECT_EQ(agent.slice.job_id, "4f2a");
  EXPECT_THAT(agent.signals, ElementsAre(SIGUSR1));
  EXPECT_EQ(agent.stops, 1);
  EXPECT_EQ(agent.kills, 1);
  EXPECT_EQ(agent.released.size(), 1U);
  EXPECT_EQ(agent.announced.size(), 2U);
}

TEST_F(AgentSessionTest, AnswersDescribe) {
  command(DescribeCommand{2, model::TopologyDetail::kCores});
  EXPECT_TRUE(last<DescribedReport>().status.ok());
  EXPECT_EQ(last<DescribedReport>().facts.ports.size(), 2U);
  agent.failDescribe(unavailable("no ports"));
  command(DescribeCommand{2, {}});
  EXPECT_EQ(last<DescribedReport>().status.message(), "no ports");
}

TEST_F(AgentSessionTest, NumbersItsReportsFromOne) {
  command(RunCommand{});
  agent.events->onStarted(0, 700);
  agent.events->onAborted(0, 3, "no data");
  agent.events->onFenceReached(FenceId::kInstances, {});
  agent.events->onEnded(0, {});
  agent.events->onClosed(0);
  std::vector<std::uint64_t> numbers;
  for (const NumberedReport& each : link.sent) numbers.push_back(each.number);
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(std::get<StartedReport>(link.sent[0].report).pid, 700);
}

TEST_F(AgentSessionTest, SaysOfAFenceHowManyOfTheRunHaveBeenReleased) {
  const auto reached = [this] {
    agent.events->onFenceReached(FenceId::kInstances, {});
    return last<FenceReachedReport>().released;
  };
  command(RunCommand{});
  EXPECT_EQ(reached(), 0);
  command(ReleaseFenceCommand{FenceId::kInstances, std::make_shared<const PutValues>()});
  EXPECT_EQ(reached(), 1);
  command(RunCommand{});
  EXPECT_EQ(reached(), 0);
}

TEST_F(AgentSessionTest, DropsWhatComesTwice) {
  session.receive({1, StopCommand{}});
  session.receive({1, StopCommand{}});
  EXPECT_EQ(agent.stops, 1);
}

TEST_F(AgentSessionTest, AGapIsALostLink) {
  session.receive({2, StopCommand{}});
  EXPECT_EQ(agent.stops, 0);
  EXPECT_EQ(agent.kills, 1);
  settle();
  EXPECT_EQ(over->message(), "message 2 followed message 0 on its link");
  EXPECT_EQ(link.closed, 1);
}

TEST_F(AgentSessionTest, KillsEverythingWhenTheLinkIsLostAndThenIsOver) {
  command(RunCommand{});
  session.linkLost(unavailable("the stream has ended"));
  EXPECT_EQ(agent.kills, 1);
  EXPECT_FALSE(over) << "from the loop";
  settle();
  EXPECT_EQ(over->message(), "the stream has ended");
  const std::size_t sent = link.sent.size();
  agent.events->onEnded(0, {{.signal = SIGKILL}, ""});
  command(StopCommand{});
  EXPECT_EQ(link.sent.size(), sent);
  EXPECT_EQ(agent.stops, 0);
  EXPECT_TRUE(session.write(0, Stream::kStdout, std::string(10 << 20, 'x'))) << "nobody is held up";
  EXPECT_EQ(loop.armedTimers(), 0U);
}

TEST_F(AgentSessionTest, KillsEverythingFiveSecondsAfterTheControllersLastSign) {
  loop.advance(milliseconds(3000));
  command(HeartbeatCommand{});
  loop.advance(milliseconds(4999));
  EXPECT_EQ(agent.kills, 0);
  loop.advance(milliseconds(1));
  EXPECT_EQ(agent.kills, 1);
  settle();
  EXPECT_EQ(over->message(), "the controller has gone silent");
}

TEST_F(AgentSessionTest, AStoppedLauncherIsNotASilentOne) {
  command(RunCommand{});
  command(SignalCommand{SIGSTOP});
  EXPECT_TRUE(std::holds_alternative<StoppedReport>(link.sent.back().report)) << "it may stop now";
  command(OutputTakenCommand{1});  // was on its way
  const std::size_t sent = link.sent.size();
  loop.advance(std::chrono::hours(10));
  EXPECT_EQ(agent.kills, 0);
  EXPECT_EQ(link.sent.size(), sent + 600U) << "enough to show a dead link to the kernel";
  command(SignalCommand{SIGCONT});
  loop.advance(milliseconds(4999));
  EXPECT_EQ(agent.kills, 0);
  loop.advance(milliseconds(1));
  EXPECT_EQ(agent.kills, 1);
}

TEST_F(AgentSessionTest, HoldsInstancesBackWhenAWindowOfOutputIsUnread) {
  int ready = 0;
  session.setOnReady([&ready] { ++ready; });
  const std::string half(static_cast<std::size_t>(kOutputWindowBytes / 2), 'x');
  EXPECT_TRUE(session.write(1, Stream::kStdout, half));
  EXPECT_FALSE(session.write(1, Stream::kStderr, half));
  EXPECT_EQ(link.sent.size(), 2U) << "what was taken is on its way";
  command(OutputTakenCommand{1});
  EXPECT_EQ(ready, 1);
  EXPECT_FALSE(session.write(1, Stream::kStdout, "xx"));
  command(OutputTakenCommand{kOutputWindowBytes * 10});
  EXPECT_EQ(ready, 2);
  EXPECT_TRUE(session.write(1, Stream::kStdout, half)) << "a window is a window";
}

TEST_F(AgentSessionTest, CarriesInput) {
  command(InputCommand{"some"});
  command(InputCommand{" bytes"});
  command(InputCommand{});
  EXPECT_EQ(input.got, "some bytes<end>");
  input.taken(10);
  EXPECT_EQ(last<InputTakenReport>().bytes, 10);
  session.inputUnread();
  EXPECT_TRUE(std::holds_alternative<InputUnreadReport>(link.sent.back().report));
}

}  // namespace
}  // namespace pop::agent
