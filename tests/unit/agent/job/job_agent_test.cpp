// SPDX-License-Identifier: Apache-2.0
// The agent of one job at the far end of its stream, with a keeper of its own.
#include "agent/job/job_agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "agent/job/warm_up.h"
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

// poprun asks what the host is like without waiting for the answer to its hello.
TEST(JobAgent, RefusesALauncherOfAnotherVersionWhateverComesWithItsHello) {
  Result<keeper::Keeper> keeper = keeper::forkKeeper();
  ASSERT_TRUE(keeper.ok());
  os::EpollLoop loop;
  auto [here, there] = sys::socketPair().value();
  ASSERT_TRUE(sys::setNonBlocking(here.get()).ok() && sys::setNonBlocking(there.get()).ok());
  std::optional<Status> ended;
  wire::StreamAgentCall launcher(loop, std::move(here),
                                 {.report = [](const wire::v1::Report&) { ADD_FAILURE() << "a welcome"; },
                                  .ended = [&ended](const Status& why) { ended = why; }});
  launcher.send(helloOfAnotherVersion());
  launcher.send(wire::encode(NumberedCommand{1, DescribeCommand{}}));
  loop.post([&loop] { loop.stop(); });
  loop.run();  // what was sent is one piece from here on
  wire::StreamRunCall call(loop, std::move(there), {});
  JobAgent agent(loop, call, std::move(*keeper));
  loop.run();
  agent.shutDown();
  testing::runUntil(loop, [&ended] { return ended.has_value(); });
  EXPECT_EQ(ended->code(), Code::kFailedPrecondition);
  EXPECT_THAT(ended->message(),
              AllOf(HasSubstr("popdist-agent here is version "), HasSubstr(contract::kVersion),
                    HasSubstr("poprun is version 0.0.test")));
}

TEST(WarmUp, LeavesTheKeeperAsItWas) {
  Result<keeper::Keeper> keeper = keeper::forkKeeper();
  ASSERT_TRUE(keeper.ok());
  warmUp(keeper->link.get());
  EXPECT_TRUE(keeper::endKeeper(std::move(*keeper)).ok());
}

}  // namespace
}  // namespace pop::agent
