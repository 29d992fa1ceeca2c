// SPDX-License-Identifier: Apache-2.0
// The command that becomes the agent, run by real shells, without SSH.
#include "poprun/bootstrap/agent_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poprun/bootstrap/line_splitter.h"
#include "poprun/bootstrap/rsh_process.h"

namespace pop {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

MATCHER_P(EndsWithWords, words, "") {
  return arg.size() >= words.size() && std::equal(words.rbegin(), words.rend(), arg.rbegin());
}

TEST(AgentCommand, IsOneWordOfAnyLoginShell) {
  const std::string command = agentCommand({.version = "0.1.0"}).value();
  const std::size_t open = command.find('\'');
  ASSERT_NE(open, std::string::npos);
  EXPECT_EQ(command.back(), '\'');
  const std::string script = command.substr(open + 1, command.size() - open - 2);
  EXPECT_EQ(script.find_first_of("'\\!\n"), std::string::npos) << script;
  EXPECT_THAT(script, Not(HasSubstr("VERSION")));
  EXPECT_THAT(script, HasSubstr("exec \"$1\" --stdio;"));
}

TEST(AgentCommand, RefusesWhatAShellCouldRead) {
  for (const char* wrong : {"a'b", "$(x)", "a;b", "a\nb", "`x`", "a\\b"}) {
    EXPECT_FALSE(agentCommand({.version = "1", .remote_path = wrong}).ok()) << wrong;
    EXPECT_FALSE(agentCommand({.version = wrong}).ok()) << wrong;
    EXPECT_FALSE(agentCommand({.version = "1", .arguments = {wrong}}).ok()) << wrong;
  }
}

TEST(RshCommand, TellsSshWhatLibsshIsTold) {
  const SshOptions options{.user = "me",
                           .port = 2222,
                           .identity_files = {"/key"},
                           .config_file = "/config",
                           .connect_timeout_ms = 5000};
  EXPECT_THAT(rshCommand({.host = "h0"}, options, "run"),
              AllOf(Contains("BatchMode=yes"), Contains("ConnectTimeout=5"), Contains("RemoteCommand=none"),
                    Contains("SessionType=default"),
                    EndsWithWords(std::vector<std::string>{"-F", "/config", "-i", "/key", "-p", "2222",
                                                           "me@h0", "run"})));
}

TEST(RshCommand, GivesSshWholeSecondsThatAreEnough) {
  for (const int milliseconds : {1, 1000}) {
    EXPECT_THAT(rshCommand({.host = "h0"}, {.connect_timeout_ms = milliseconds}, "run"),
                ::testing::Contains("ConnectTimeout=1"));
  }
  EXPECT_THAT(rshCommand({.host = "h0"}, {.connect_timeout_ms = 1001}, "run"),
              ::testing::Contains("ConnectTimeout=2"));
}

TEST(RshCommand, LeavesOtherProgramsAlone) {
  EXPECT_THAT(rshCommand({.host = "h0"}, {.rsh = {"/usr/bin/lxc-rsh", "-q"}}, "run"),
              ElementsAre("/usr/bin/lxc-rsh", "-q", "h0", "run"));
}

TEST(LineSplitter, GivesWholeLinesAndCutsEndlessOnes) {
  std::vector<std::string> lines;
  LineSplitter splitter([&](const std::string& line) { lines.push_back(line); });
  splitter.take("one\r\ntw");
  splitter.take("o\n\nthree");
  splitter.end();
  EXPECT_THAT(lines, ElementsAre("one", "two", "three"));
  splitter.take(std::string(10000, 'x'));
  splitter.end();
  EXPECT_EQ(lines.size(), 6U);
}

}  // namespace
}  // namespace pop
