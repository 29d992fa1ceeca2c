// SPDX-License-Identifier: Apache-2.0
// libpopdist's end of the link to an agent that takes nothing more, as one that is stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "libpopdist/collectives/context/agent_link.h"
#include "tests/unit/agent/rendezvous/instance_server_fixture.h"

namespace pop::agent {
namespace {

using popdist::context::AgentLink;
using popdist::context::LinkError;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr milliseconds kLong{20'000};
constexpr milliseconds kShort{50};

class AgentThatTakesNothing : public InstanceServerTest {
 protected:
  // The agent is the loop, which runs only until it has let the instance in.
  AgentThatTakesNothing() {
    contract::InstanceEnv env;
    env.job_id = job_id;
    env.agent_socket = socket;
    env.num_instances = 4;
    env.num_local_instances = 3;
    auto made = std::async(std::launch::async, [&] { return AgentLink::connect(env, kLong, kShort); });
    testing::runUntil(loop, [&] { return made.wait_for(milliseconds(0)) == std::future_status::ready; });
    link = made.get().value();
  }

  static bool sleeps(pid_t thread) {
    std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("State:")) return line.find("sleeping") != std::string::npos;
    }
    return false;
  }

  std::unique_ptr<AgentLink> link;
  const std::string much = std::string(std::size_t{8} << 20, 'v');  // more than any socket holds
};

TEST_F(AgentThatTakesNothing, IsGivenUpAtTheDeadline) {
  const LinkError error = link->put("key", much, kShort);
  EXPECT_EQ(error.status.code(), Code::kDeadlineExceeded);
  EXPECT_THAT(error.status.message(), HasSubstr("agent read nothing"));
  EXPECT_THAT(error.status.message(), HasSubstr("Context::setTimeout"));
  // Later bytes would be taken for the rest of half a message.
  std::optional<std::string> value;
  EXPECT_EQ(link->get("key", kLong, value).status.code(), Code::kFailedPrecondition);
  EXPECT_EQ(link->put("key", "value", kLong).status.code(), Code::kFailedPrecondition);
}

TEST_F(AgentThatTakesNothing, DoesNotHoldUpAnAbort) {
  std::atomic<pid_t> sender = 0;
  const std::jthread putting([&] {
    sender = ::gettid();
    EXPECT_EQ(link->put("key", much, kLong).status.code(), Code::kUnavailable);
  });
  while (sender == 0 || !sleeps(sender)) std::this_thread::yield();
  const auto aborting = std::async(std::launch::async, [&] { link->abort(3, "enough"); });
  EXPECT_EQ(aborting.wait_for(kLong / 2), std::future_status::ready);
  server.reset();  // ends both
}

}  // namespace
}  // namespace pop::agent
