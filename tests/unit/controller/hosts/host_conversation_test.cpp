// SPDX-License-Identifier: Apache-2.0
// The conversation with a host's agent over a real stream, whose other end the test holds.
#include "controller/hosts/host_conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/contract/version.h"
#include "common/sys/unix_socket.h"
#include "common/wire/agent_codec.h"
#include "common/wire/stream_call.h"
#include "tests/testing/run_until.h"

namespace pop {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

class HostConversationTest : public ::testing::Test, public ConversationEvents {
 protected:
  HostConversationTest() {
    hello.set_job_id("4f2a");
    access.connect_timeout = std::chrono::hours(1);
  }

  void reach() {
    auto [here, there] = sys::socketPair().value();
    EXPECT_TRUE(sys::setNonBlocking(here.get()).ok() && sys::setNonBlocking(there.get()).ok());
    agent.emplace(loop, std::move(there), sys::Fd());
    agent->listen({.command =
                       [this](const wire::v1::Command& command) {
                         heard.push_back(command);
                         if (answers && command.has_describe()) answerEcho(command);
                       },
                   .closed = [this] { agent_hears_end = true; }});
    conversation.emplace(loop, access, "h7", hello, *this, [this] {
      EXPECT_FALSE(is_over) << "twice";
      EXPECT_TRUE(end.has_value()) << "the end comes first";
      is_over = true;
    });
    conversation->reached({std::move(here), "10.0.0.7", "10.0.0.1"});
  }

  void welcome(std::uint32_t protocol = contract::kAgentProtocol) {
    wire::v1::Report report;
    report.mutable_welcome()->set_protocol(protocol);
    report.mutable_welcome()->set_version("9.9");
    agent->send(report);
  }

  void answerEcho(const wire::v1::Command& command) {
    wire::v1::Report report;
    report.set_number(command.number());
    report.mutable_described();
    agent->send(report);
  }

  void untilOver() {
    testing::runUntil(loop, [this] { return is_over; });
    EXPECT_TRUE(conversation->isOver());
    EXPECT_FALSE(conversation->isCalling());
  }

  os::EpollLoop loop;
  HostAccess access;
  wire::v1::Hello hello;
  std::optional<wire::StreamRunCall> agent;
  std::vector<wire::v1::Command> heard;
  bool answers = true;
  bool agent_hears_end = false;
  std::optional<HostConversation> conversation;
  bool is_welcome = false;
  std::optional<Status> end;
  Status why_lost;
  bool is_over = false;

 private:
  void reached() override { conversation->call(); }
  void welcomed(const wire::v1::Welcome&) override { is_welcome = true; }
  void ended(const Status& how, const Status& lost) override {
    EXPECT_FALSE(end.has_value()) << "twice";
    end = how;
    why_lost = lost;
  }
};

TEST_F(HostConversationTest, SaysInItsHelloWhatIsKnownOfTheHost) {
  reach();
  testing::runUntil(loop, [this] { return !heard.empty(); });
  const wire::v1::Hello& said = heard.front().hello();
  EXPECT_EQ(said.protocol(), contract::kAgentProtocol);
  EXPECT_EQ(said.version(), contract::kVersion);
  EXPECT_EQ(said.job_id(), "4f2a");
  EXPECT_EQ(said.host_name(), "h7");
  EXPECT_EQ(said.reached_at(), "10.0.0.7");
  EXPECT_EQ(said.controller_at(), "10.0.0.1");
  EXPECT_EQ(conversation->phase(), "waiting for its agent's answer");
}

TEST_F(HostConversationTest, ThatBreaksBeforeTheAnswerSaysWhatIsKnownOfItsStream) {
  reach();
  conversation->streamEnded(125);
  agent.reset();
  untilOver();
  EXPECT_EQ(end->code(), Code::kUnavailable);
  EXPECT_EQ(why_lost.message(), "the popdist-agent there ended with exit code 125");
}

TEST_F(HostConversationTest, EndsWithAnAgentOfAnotherProtocol) {
  reach();
  welcome(contract::kAgentProtocol + 1);
  untilOver();
  EXPECT_FALSE(is_welcome);
  EXPECT_EQ(why_lost.code(), Code::kFailedPrecondition);
  EXPECT_THAT(why_lost.message(), HasSubstr("popdist-agent there is version 9.9"));
}

TEST_F(HostConversationTest, EndsWithTheReasonOfAnAgentThatRefuses) {
  reach();
  agent->finish({Code::kInvalidArgument, "what is that?"});
  untilOver();
  EXPECT_EQ(why_lost.code(), Code::kInvalidArgument);
  EXPECT_THAT(why_lost.message(), AllOf(HasSubstr("what is that?"), HasSubstr("of another version?")));
}

TEST_F(HostConversationTest, GivesAnAgentThatDoesNotAnswerItsTime) {
  access.connect_timeout = milliseconds(30);
  reach();
  untilOver();
  EXPECT_EQ(end->code(), Code::kDeadlineExceeded);
  EXPECT_EQ(why_lost.message(), "its agent has not answered within 30 ms (--connect-timeout)");
}

TEST_F(HostConversationTest, NamesWhatAnExaminationMayWaitFor) {
  access.connect_timeout = milliseconds(30);
  hello.mutable_examination()->set_working_directory("/data/far");
  reach();
  untilOver();
  EXPECT_THAT(why_lost.message(),
              AllOf(HasSubstr("within 30 ms"), HasSubstr("does the working directory, /data/far, answer")));
}

TEST_F(HostConversationTest, MeasuresTheFastestOfItsEchoes) {
  reach();
  welcome();
  testing::runUntil(loop, [this] { return is_welcome; });
  std::optional<std::chrono::microseconds> fastest;
  conversation->echo(5, [&fastest](std::chrono::microseconds time) { fastest = time; });
  testing::runUntil(loop, [&fastest] { return fastest.has_value(); });
  EXPECT_EQ(heard.size(), 6U) << "hello, and five questions";
  EXPECT_EQ(heard.back().number(), 5U);
  EXPECT_GT(fastest->count(), 0);
  EXPECT_LT(*fastest, std::chrono::seconds(20));
}

TEST_F(HostConversationTest, GivesEchoesTheirTime) {
  access.connect_timeout = std::chrono::seconds(1);
  answers = false;
  reach();
  welcome();
  testing::runUntil(loop, [this] { return is_welcome; });
  conversation->echo(5, [](std::chrono::microseconds) { ADD_FAILURE() << "there was none"; });
  untilOver();
  EXPECT_EQ(end->code(), Code::kDeadlineExceeded);
  EXPECT_THAT(why_lost.message(), HasSubstr("not 5 more echo requests within 1000 ms"));
}

TEST_F(HostConversationTest, WaitsForTheEndOfAnAgentThatHasAnswered) {
  reach();
  welcome();
  testing::runUntil(loop, [this] { return is_welcome; });
  conversation->finish();
  testing::runUntil(loop, [this] { return agent_hears_end; });
  EXPECT_FALSE(is_over);
  EXPECT_EQ(conversation->phase(), "waiting for its agent's end");
  agent->finish({});
  untilOver();
  EXPECT_TRUE(end->ok());
  EXPECT_FALSE(conversation->endIsLate());
}

TEST_F(HostConversationTest, HangsUpOnAnAgentThatHasNotAnsweredWhenItFinishes) {
  reach();
  conversation->finish();
  untilOver();
  testing::runUntil(loop, [this] { return agent_hears_end; });
  EXPECT_TRUE(end->ok());
  EXPECT_EQ(why_lost.message(), "its link was closed");
}

}  // namespace
}  // namespace pop
