// SPDX-License-Identifier: Apache-2.0
// Both ends of a call, over everything that carries calls.
#include "common/wire/agent_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/agent_service/agent_server.h"
#include "common/agent_service/service_call.h"
#include "common/os/epoll_loop.h"
#include "common/sys/unix_socket.h"
#include "common/wire/stream_call.h"
#include "tests/testing/run_until.h"
#include "tests/testing/test_pairs.h"

namespace pop::wire {
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

// A carrier of calls: made anew for each test.
class Wire {
 public:
  virtual ~Wire() = default;  ///< the agent's side is gone, as when its process was killed
  virtual std::unique_ptr<AgentCall> call(AgentCall::Events events) = 0;
};

using Accept = std::function<void(std::shared_ptr<RunCall>)>;

class ServiceWire final : public Wire {
 public:
  ServiceWire(os::EpollLoop& loop, const Accept& accept, bool has_tls)
      : loop_(loop),
        server_(loop, {.run =
                           [accept](std::shared_ptr<ServedCall> call) {
                             call->trust();
                             accept(std::move(call));
                           },
                       .describe = nullptr,
                       .end_job = nullptr,
                       .note = nullptr}) {
    const auto pairs = has_tls ? std::optional<testing::TestPairs>(std::in_place) : std::nullopt;
    address_ = {.host = "127.0.0.1", .tls = pairs ? pairs->client() : nullptr};
    address_.port = server_.listenAt("127.0.0.1", 0, pairs ? pairs->server() : nullptr).value();
  }

  std::unique_ptr<AgentCall> call(AgentCall::Events events) override {
    return std::make_unique<ServiceCall>(loop_, address_, std::move(events));
  }

 private:
  os::EpollLoop& loop_;
  AgentServer server_;
  ServiceAddress address_;
};

class StreamWire final : public Wire {
 public:
  StreamWire(os::EpollLoop& loop, Accept accept) : loop_(loop), accept_(std::move(accept)) {}
  ~StreamWire() override { run_.reset(); }

  std::unique_ptr<AgentCall> call(AgentCall::Events events) override {
    auto ends = sys::socketPair().value();
    EXPECT_TRUE(sys::setNonBlocking(ends.first.get()).ok());
    EXPECT_TRUE(sys::setNonBlocking(ends.second.get()).ok());
    run_ = std::make_unique<StreamRunCall>(loop_, std::move(ends.first), sys::Fd());
    loop_.post([this] { accept_(std::shared_ptr<RunCall>(run_.get(), [](RunCall*) {})); });
    return callOver(loop_, std::move(ends.second))(std::move(events));
  }

 private:
  os::EpollLoop& loop_;
  const Accept accept_;
  std::unique_ptr<StreamRunCall> run_;
};

class CallTest : public ::testing::TestWithParam<std::string> {
 protected:
  CallTest() {
    const Accept accept = [this](std::shared_ptr<RunCall> call) { accepted(std::move(call)); };
    if (GetParam() == "stream")
      wire_ = std::make_unique<StreamWire>(loop_, accept);
    else
      wire_ = std::make_unique<ServiceWire>(loop_, accept, GetParam() == "tls");
    call_ = wire_->call({.report = [this](const v1::Report& report) { reports_.push_back(report.number()); },
                         .ended = [this](const Status& status) { ended_ = status; }});
  }

  void accepted(std::shared_ptr<RunCall> call) {
    run_ = std::move(call);
    run_->listen({.command = [this](const v1::Command& command) { commands_.push_back(command.number()); },
                  .closed = [this] { closed_ = true; }});
  }

  os::EpollLoop loop_;
  std::vector<std::uint64_t> commands_;
  std::vector<std::uint64_t> reports_;
  bool closed_ = false;
  std::optional<Status> ended_;
  std::unique_ptr<Wire> wire_;
  std::shared_ptr<RunCall> run_;
  std::unique_ptr<AgentCall> call_;
};

INSTANTIATE_TEST_SUITE_P(Over, CallTest, ::testing::Values("stream", "service", "tls"),
                         [](const auto& wire) { return wire.param; });

TEST_P(CallTest, CarriesMessagesBothWaysInOrder) {
  for (std::uint64_t number = 1; number <= 100; ++number) call_->send(commandNumber(number));
  runUntil(loop_, [this] { return commands_.size() == 100; });
  for (std::uint64_t number = 1; number <= 100; ++number) run_->send(reportNumber(number));
  runUntil(loop_, [this] { return reports_.size() == 100; });
  EXPECT_TRUE(std::is_sorted(commands_.begin(), commands_.end()));
  EXPECT_TRUE(std::is_sorted(reports_.begin(), reports_.end()));
}

TEST_P(CallTest, EndsWithTheAgentsStatusAfterItsLastReport) {
  call_->send(commandNumber(1));
  runUntil(loop_, [this] { return run_ != nullptr; });
  run_->send(reportNumber(7));
  run_->finish({Code::kFailedPrecondition, "another version"});
  runUntil(loop_, [this] { return ended_.has_value(); });
  EXPECT_THAT(reports_, ElementsAre(7));
  EXPECT_EQ(*ended_, Status(Code::kFailedPrecondition, "another version"));
}

TEST_P(CallTest, TellsTheAgentThatNoCommandComesAnyMore) {
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

TEST_P(CallTest, ThatIsDroppedTellsTheAgentAndNobodyElse) {
  call_->send(commandNumber(1));
  runUntil(loop_, [this] { return !commands_.empty(); });
  call_.reset();
  runUntil(loop_, [this] { return closed_; });
  testing::runIdle(loop_);
  EXPECT_FALSE(ended_.has_value());
}

TEST_P(CallTest, EndsWhenTheAgentIsGone) {
  call_->send(commandNumber(1));
  runUntil(loop_, [this] { return run_ != nullptr; });
  run_.reset();
  wire_.reset();
  runUntil(loop_, [this] { return ended_.has_value(); });
  EXPECT_FALSE(ended_->ok());
}

TEST_P(CallTest, KeepsCommandsUntilSomebodyListens) {
  call_->send(commandNumber(1));
  runUntil(loop_, [this] { return !commands_.empty(); });
  std::vector<std::uint64_t> later;
  run_->listen({.command = [&later](const v1::Command& command) { later.push_back(command.number()); },
                .closed = nullptr});
  call_->send(commandNumber(2));
  runUntil(loop_, [&later] { return !later.empty(); });
  EXPECT_THAT(later, ElementsAre(2));
}

TEST_P(CallTest, TakesAMessageLargerThanUsual) {
  v1::Command command;
  command.set_number(1);
  command.set_input(std::string(32 << 20, 'x'));
  call_->send(std::move(command));
  runUntil(loop_, [this] { return !commands_.empty(); });
  EXPECT_THAT(commands_, ElementsAre(1));
}

TEST_P(CallTest, SaysThatAServiceDoesNotTakeAllThatWasPutForAFence) {
  v1::Command command = commandNumber(1);
  command.mutable_release_fence()->mutable_values()->add_values()->set_value(std::string(65 << 20, 'x'));
  call_->send(std::move(command));
  runUntil(loop_, [this] { return ended_.has_value() || !commands_.empty(); });
  if (GetParam() == "stream")
    EXPECT_THAT(commands_, ElementsAre(1));
  else
    EXPECT_EQ(ended_, Status(Code::kResourceExhausted,
                             "the job's instances have put more for one fence than the agent service "
                             "accepts, 64 MiB (Context::put)"));
}

TEST_P(CallTest, EndsAtAReportThatIsTooLong) {
  runUntil(loop_, [this] { return run_ != nullptr; });
  v1::Report report;
  report.mutable_output()->set_text(std::string(65 << 20, 'x'));
  run_->send(std::move(report));
  runUntil(loop_, [this] { return ended_.has_value() || !reports_.empty(); });
  EXPECT_THAT(reports_, ElementsAre());
  EXPECT_EQ(ended_, Status(Code::kResourceExhausted, "a message is too long"));
}

// Two bytes each on the wire.
TEST_P(CallTest, EndsAtAReportOfTooManyElements) {
  runUntil(loop_, [this] { return run_ != nullptr; });
  v1::Report report;
  for (int each = 0; each <= 1 << 20; ++each) report.mutable_stacks()->add_traces();
  run_->send(std::move(report));
  runUntil(loop_, [this] { return ended_.has_value() || !reports_.empty(); });
  EXPECT_THAT(reports_, ElementsAre());
  EXPECT_EQ(ended_, Status(Code::kResourceExhausted, "a report has more than 1048576 elements"));
}

}  // namespace
}  // namespace pop::wire
