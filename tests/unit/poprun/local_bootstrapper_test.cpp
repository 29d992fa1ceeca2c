// SPDX-License-Identifier: Apache-2.0
// How long an agent of poprun's own host is waited for.
#include "poprun/bootstrap/local_bootstrapper.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>

#include "tests/testing/process_tree.h"

namespace pop {
namespace {

using namespace std::chrono_literals;
using testing::ownChildren;

struct Started {
  explicit Started(const std::vector<std::string>& command, std::chrono::milliseconds patience) {
    agents = std::make_unique<LocalBootstrapper>(loop, command, 1, patience);
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
