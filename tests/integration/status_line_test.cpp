// SPDX-License-Identifier: Apache-2.0
// The status line on a real terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <optional>

#include "tests/testing/poprun_process.h"
#include "tests/testing/terminal.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PoprunSetup onTerminal(const Terminal& terminal, std::vector<std::string> options,
                       std::vector<std::string> child) {
  return {.options = std::move(options),
          .child = std::move(child),
          .environment = {{"TERM", "xterm"}},
          .descriptors = {{1, terminal.end()}, {2, terminal.end()}}};
}

// The process of instance `index` by its own message, once the whole of it is shown.
std::optional<pid_t> pidOf(int index, const std::string& shown) {
  const std::string before = "ready " + std::to_string(index) + ' ';
  const std::size_t at = shown.find(before);
  if (at == std::string::npos || shown.find('\n', at) == std::string::npos) return std::nullopt;
  return std::stoi(shown.substr(at + before.size()));
}

// Two instances are ready, and the status line says so.
bool showsTwoRunning(const std::string& shown) {
  return pidOf(0, shown) && pidOf(1, shown) && shown.ends_with("\r\x1b[Kpoprun: 2 running");
}

TEST(StatusLine, SaysWhatRunsAndMakesWay) {
  Terminal terminal;
  PoprunProcess poprun(onTerminal(terminal, {"--num-instances", "2"}, {"wait"}));
  const auto shows = [&](const std::string& text) {
    return poprun.waitFor([&] { return terminal.shown().find(text) != std::string::npos; });
  };
  ASSERT_TRUE(poprun.waitFor([&] { return showsTwoRunning(terminal.shown()); })) << terminal.shown();
  ::kill(*pidOf(0, terminal.shown()), SIGUSR1);
  ASSERT_TRUE(shows("\r\x1b[Kpoprun: 1 running, 1 done")) << terminal.shown();
  ::kill(*pidOf(1, terminal.shown()), SIGUSR1);
  EXPECT_EQ(poprun.wait(), 0);
  EXPECT_TRUE(terminal.shown().ends_with("\r\x1b[K")) << terminal.shown();
}

TEST(StatusLine, IsErasedBeforeOutput) {
  Terminal terminal;
  PoprunProcess poprun(onTerminal(terminal, {"--num-instances", "2"}, {"say-signals"}));
  ASSERT_TRUE(poprun.waitFor([&] { return showsTwoRunning(terminal.shown()); })) << terminal.shown();
  ::kill(*pidOf(1, terminal.shown()), SIGHUP);
  EXPECT_TRUE(poprun.waitFor([&] {
    return terminal.shown().find("2 running\r\x1b[K[1] SIGHUP\n\r\x1b[Kpoprun: ") != std::string::npos;
  })) << terminal.shown();
  poprun.signal(SIGTERM);
  poprun.wait();
}

TEST(StatusLine, IsNotThereInTheBackground) {
  Terminal terminal;
  const Shell shell(terminal, std::string("set -m; TERM=xterm ") + POP_BIN_DIR +
                                  "/poprun --num-instances 2 sleep 1.3 & wait; echo end");
  EXPECT_TRUE(waitUntil([&] { return terminal.shown().find("end\n") != std::string::npos; }, kTimeout));
  EXPECT_THAT(terminal.shown(), Not(HasSubstr("\x1b")));
}

TEST(StatusLine, LeavesTheTerminalWhilePoprunIsStopped) {
  Terminal terminal;
  PoprunProcess poprun(onTerminal(terminal, {"--num-instances", "2"}, {"wait"}));
  ASSERT_TRUE(poprun.waitFor([&] { return showsTwoRunning(terminal.shown()); })) << terminal.shown();
  poprun.signal(SIGTSTP);
  EXPECT_TRUE(poprun.waitFor([&] { return terminal.shown().ends_with("\r\x1b[K"); })) << terminal.shown();
  ASSERT_TRUE(waitUntil([&] { return statOf(poprun.pid())->state == 'T'; }, kTimeout)) << "it only will stop";
  poprun.signal(SIGCONT);
  EXPECT_TRUE(poprun.waitFor([&] { return terminal.shown().ends_with("2 running"); })) << terminal.shown();
  poprun.signal(SIGTERM);
  EXPECT_EQ(poprun.wait(), 143);
}

TEST(StatusLine, IsNotThereForShortJobs) {
  Terminal terminal;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(run(onTerminal(terminal, {"--num-instances", "2"}, {"lines", "1", "20"})).exit_code, 0);
  if (std::chrono::steady_clock::now() - begin >= std::chrono::seconds(1)) GTEST_SKIP() << "a busy machine";
  EXPECT_THAT(terminal.shown(), Not(HasSubstr("\x1b")));
}

TEST(StatusLine, IsNotThereForLogsAndPipes) {
  Terminal terminal;
  EXPECT_EQ(run(onTerminal(terminal, {"--num-instances", "2", "-v", "sleep", "1.3"}, {})).exit_code, 0);
  PoprunSetup piped = onTerminal(terminal, {"--num-instances", "2", "sleep", "1.3"}, {});
  piped.descriptors = {{2, terminal.end()}};
  EXPECT_EQ(run(piped).exit_code, 0);
  EXPECT_THAT(terminal.shown(), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace pop::testing
