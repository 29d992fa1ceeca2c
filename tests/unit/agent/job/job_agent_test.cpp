// SPDX-License-Identifier: Apache-2.0
// The agent of one job at the far end of its stream, with a keeper of its own.
#include "agent/job/job_agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "common/contract/version.h"
#include "common/os/epoll_loop.h"
#include "common/sys/unix_socket.h"
#include "common/wire/agent_codec.h"
#include "common/wire/stream_call.h"
#include "tests/testing/run_until.h"

namespace pop::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

wire::v1::Command helloOfAnotherVersion() {
  wire::v1::Command command;
  command.mutable_hello()->set_protocol(contract::kAgentProtocol + 1);
  command.mutable_hello()->set_version("0.0.test");
  return command;
}

wire::v1::Command helloThatNeedsTheCache(const std::string& path) {
  wire::v1::Command command;
  command.mutable_hello()->set_protocol(contract::kAgentProtocol);
  command.mutable_hello()->set_version(contract::kVersion);
  command.mutable_hello()->set_executable_cache(path);
  return command;
}

/// The launcher's end of an agent's stream. Its messages before the agent listens are read there in one
/// piece.
struct Launcher {
  void say(const wire::v1::Command& command) { call.send(command); }
  void endStream() { call.close(); }

  /// The end of an agent that has read everything said.
  Status answer() {
    Result<keeper::Keeper> keeper = keeper::forkKeeper();
    if (!keeper.ok()) return keeper.status();
    loop.post([this] { loop.stop(); });
    loop.run();
    wire::StreamRunCall run(loop, std::move(ends.second), {});
    JobAgent agent(loop, run, std::move(*keeper));
    loop.run();
    agent.shutDown();
    testing::runUntil(loop, [this] { return ended.has_value(); });
    return *ended;
  }

  std::pair<sys::Fd, sys::Fd> ends = nonBlockingPair();
  os::EpollLoop loop;
  std::optional<Status> ended;
  wire::StreamAgentCall call{loop,
                             std::move(ends.first),
                             {.report = [](const wire::v1::Report&) { ADD_FAILURE() << "a welcome"; },
                              .ended = [this](const Status& why) { ended = why; }}};

 private:
  static std::pair<sys::Fd, sys::Fd> nonBlockingPair() {
    auto [here, there] = sys::socketPair().value();
    EXPECT_TRUE(sys::setNonBlocking(here.get()).ok() && sys::setNonBlocking(there.get()).ok());
    return {std::move(here), std::move(there)};
  }
};

// poprun asks what the host is like without waiting for the answer to its hello.
TEST(JobAgent, RefusesALauncherOfAnotherVersionWhateverComesWithItsHello) {
  Launcher launcher;
  launcher.say(helloOfAnotherVersion());
  launcher.say(wire::encode(NumberedCommand{1, DescribeCommand{}}));
  const Status ended = launcher.answer();
  EXPECT_EQ(ended.code(), Code::kFailedPrecondition);
  EXPECT_THAT(ended.message(), AllOf(HasSubstr("popdist-agent here is version "),
                                     HasSubstr(contract::kVersion), HasSubstr("poprun is version 0.0.test")));
}

// Ctrl-C while the agent starts: its launcher's hello and end are there when it first looks.
TEST(JobAgent, SaysWhatItCannotPrepareAlthoughItsLauncherHasEndedTheStream) {
  Launcher launcher;
  launcher.say(helloThatNeedsTheCache("/proc/no_directory"));
  launcher.endStream();
  const Status ended = launcher.answer();
  EXPECT_NE(ended.code(), Code::kOk);
  EXPECT_NE(ended.code(), Code::kUnavailable) << "the first reason is the one that counts";
  EXPECT_THAT(ended.message(), HasSubstr("/proc/no_directory"));
}

}  // namespace
}  // namespace pop::agent
