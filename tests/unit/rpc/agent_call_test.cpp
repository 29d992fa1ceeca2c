// SPDX-License-Identifier: Apache-2.0
// Both ends of a call, over a real socket pair.
#include "common/rpc/agent_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "common/os/asio_loop.h"
#include "common/rpc/agent_server.h"
#include "common/sys/unix_socket.h"
#include "tests/testing/run_until.h"

namespace pop::rpc {
namespace {

using ::testing::ElementsAre;
using testing::runUntil;

v1::Command commandNumber(std::uint64_t number) {
  v1::Command command;
  command.set_number(number);
  return command;
}

v1::Report reportNumber(std::uint64_t number) {
  v1::Report report;
  report.set_number(number);
  return report;
}

class CallTest : public ::testing::Test {
 protected:
  CallTest()
      : server_(std::make_unique<AgentServer>(
            loop_,
            AgentServer::Handlers{.run = [this](std::shared_ptr<RunCall> call) { accepted(std::move(call)); },
                                  .describe = [](const std::string&) -> Result<v1::HostDescription> {
                                    return Status(Code::kUnimplemented, "not here");
                                  }})) {
    auto ends = sys::socketPair().value();
    EXPECT_TRUE(sys::setNonBlocking(ends.first.get()).ok());
    EXPECT_TRUE(sys::setNonBlocking(ends.second.get()).ok());
    server_->serveOver(std::move(ends.first));
    call_ = std::make_unique<AgentCall>(
        loop_, channelOver(std::move(ends.second)),
        AgentCall::Events{.report = [this](const v1::Report& report) { reports_.push_back(report.number()); },
                          .ended = [this](const Status& status) { ended_ = status; }});
  }

  void accepted(std::shared_ptr<RunCall> call) {
    run_ = std::move(call);
    run_->listen({.command = [this](const v1::Command& command) { commands_.push_back(command.number()); },
                  .closed = [this] { closed_ = true; }});
  }

  os::AsioLoop loop_;
  std::shared_ptr<RunCall> run_;
  std::vector<std::uint64_t> commands_;
  std::vector<std::uint64_t> reports_;
  bool closed_ = false;
  std::optional<Status> ended_;
  std::unique_ptr<AgentServer> server_;
  std::unique_ptr<AgentCall> call_;
};

TEST_F(CallTest, CarriesMessagesBothWaysInOrder) {
  for (std::uint64_t number = 1; number <= 100; ++number) call_->send(commandNumber(number));
  runUntil(loop_, [this] { return commands_.size() == 100; });
  for (std::uint64_t number = 1; number <= 100; ++number) run_->send(reportNumber(number));
  runUntil(loop_, [this] { return reports_.size() == 100; });
  EXPECT_TRUE(std::is_sorted(commands_.begin(), commands_.end()));
  EXPECT_TRUE(std::is_sorted(reports_.begin(), reports_.end()));
}

TEST_F(CallTest, EndsWithTheAgentsStatusAfterItsLastReport) {
  call_->send(commandNumber(1));
  runUntil(loop_, [this] { return run_ != nullptr; });
  run_->send(reportNumber(7));
  run_->finish({Code::kFailedPrecondition, "another version"});
  runUntil(loop_, [this] { return ended_.has_value(); });
  EXPECT_THAT(reports_, ElementsAre(7));
  EXPECT_EQ(*ended_, Status(Code::kFailedPrecondition, "another version"));
}

TEST_F(CallTest, TellsTheAgentThatNoCommandComesAnyMore) {
  call_->send(commandNumber(1));
  call_->close();
  runUntil(loop_, [this] { return closed_; });
  EXPECT_THAT(commands_, ElementsAre(1));
  run_->send(reportNumber(9));
  run_->finish({});
  runUntil(loop_, [this] { return ended_.has_value(); });
  EXPECT_TRUE(ended_->ok());
  EXPECT_THAT(reports_, ElementsAre(9));
}

TEST_F(CallTest, ThatIsDroppedTellsTheAgentAndNobodyElse) {
  call_->send(commandNumber(1));
  runUntil(loop_, [this] { return !commands_.empty(); });
  call_.reset();
  runUntil(loop_, [this] { return closed_; });
  testing::runIdle(loop_);
  EXPECT_FALSE(ended_.has_value());
}

TEST_F(CallTest, EndsWhenTheServerIsGone) {
  call_->send(commandNumber(1));
  runUntil(loop_, [this] { return run_ != nullptr; });
  server_.reset();
  runUntil(loop_, [this] { return ended_.has_value(); });
  EXPECT_FALSE(ended_->ok());
}

TEST_F(CallTest, KeepsCommandsUntilSomebodyListens) {
  call_->send(commandNumber(1));
  runUntil(loop_, [this] { return !commands_.empty(); });
  std::vector<std::uint64_t> later;
  run_->listen({.command = [&later](const v1::Command& command) { later.push_back(command.number()); },
                .closed = nullptr});
  call_->send(commandNumber(2));
  runUntil(loop_, [&later] { return !later.empty(); });
  EXPECT_THAT(later, ElementsAre(2));
}

TEST_F(CallTest, TakesAMessageLargerThanUsual) {
  v1::Command command;
  command.set_number(1);
  command.set_input(std::string(32 << 20, 'x'));
  call_->send(std::move(command));
  runUntil(loop_, [this] { return !commands_.empty(); });
  EXPECT_THAT(commands_, ElementsAre(1));
}

}  // namespace
}  // namespace pop::rpc
