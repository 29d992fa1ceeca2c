// SPDX-License-Identifier: Apache-2.0
// The agent of poprun's own host: how long it is waited for, and what is said of its end.
#include "poprun/bootstrap/local_bootstrapper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>

#include "tests/testing/process_tree.h"
#include "tests/testing/run_until.h"

namespace pop {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::ownChildren;

struct Started {
  explicit Started(const std::vector<std::string>& command, std::chrono::milliseconds timeout) {
    agents = std::make_unique<LocalBootstrapper>(loop, command, 1);
    agents->endBy(Clock::now() + timeout);
    agents->start({.reached =
                       [this](int, ReachedHost how) {
                         stream = std::move(how.stream);
                         loop.stop();
                       },
                   .failed = [this](int, const Status& why) { ADD_FAILURE() << why.message(), loop.stop(); },
                   .ended = nullptr,
                   .phase = nullptr,
                   .said = [](int, const std::string&) {}});
    loop.run();
  }

  os::EpollLoop loop;
  std::unique_ptr<LocalBootstrapper> agents;
  sys::Fd stream;
};

// The order of the agent's end and its stream's end, and the message about the agent's end.
std::vector<std::string> endOf(const std::string& script) {
  os::EpollLoop loop;
  std::vector<std::string> happened;
  sys::Fd stream;
  LocalBootstrapper agents(loop, {"/bin/sh", "-c", script}, 1);
  agents.start(
      {.reached =
           [&](int, ReachedHost how) {
             stream = std::move(how.stream);
             loop.watchReadable(stream.get(), [&] {
               happened.push_back("closed");
               loop.unwatch(stream.get());
             });
           },
       .failed = [](int, const Status& why) { ADD_FAILURE() << why.message(); },
       .ended = [&](int, int exit_code) { happened.push_back("ended " + std::to_string(exit_code)); },
       .phase = nullptr,
       .said = [](int, const std::string&) {}});
  testing::runUntil(loop, [&] { return std::count(happened.begin(), happened.end(), "closed") == 1; });
  return happened;
}

TEST(LocalBootstrapper, SaysHowAnAgentHasEndedBeforeItsStreamIsClosed) {
  EXPECT_THAT(endOf("exit 3"), ElementsAre("ended 3", "closed"));
  EXPECT_THAT(endOf("kill -9 $$"), ElementsAre("ended " + std::to_string(kKilledBySignal), "closed"));
  EXPECT_TRUE(ownChildren().empty());
}

TEST(LocalBootstrapper, WaitsForAgentsThatEndWithTheirStream) {
  Started started({"/bin/cat"}, 1h);
  ASSERT_EQ(ownChildren().size(), 1U);
  started.stream.reset();
  started.agents.reset();
  EXPECT_TRUE(ownChildren().empty());
}

TEST(LocalBootstrapper, WakesOneThatIsStopped) {
  Started started({"/bin/cat"}, 1h);
  ASSERT_EQ(ownChildren().size(), 1U);
  ::kill(ownChildren().front(), SIGSTOP);
  started.stream.reset();
  started.agents.reset();
  EXPECT_TRUE(ownChildren().empty());
}

TEST(LocalBootstrapper, KillsOneThatDoesNotEnd) {
  Started started({"/bin/sleep", "3600"}, 1ms);
  ASSERT_EQ(ownChildren().size(), 1U);
  started.agents.reset();
  EXPECT_TRUE(ownChildren().empty());
}

}  // namespace
}  // namespace pop
