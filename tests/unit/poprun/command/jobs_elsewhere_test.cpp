// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/jobs_elsewhere.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poprun/bootstrap/ssh_words.h"
#include "poprun/cli/parse.h"

namespace pop {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> commandOf(const std::vector<std::string>& words, bool has_terminal = false) {
  const cli::ParsedOptions parsed = cli::parseOptions(words);
  EXPECT_TRUE(parsed.mistakes.empty()) << parsed.mistakes.front();
  EXPECT_TRUE(isElsewhere(parsed.options.detached));
  Result<std::vector<std::string>> command = elsewhereCommand(parsed.options, has_terminal);
  if (!command.ok()) return {command.status().message()};
  // Every ssh of ours gets these settings: see unlikeLogins().
  for (const std::string& setting : unlikeLogins("ssh")) {
    const auto at = std::find(command->begin(), command->end(), setting);
    if (at == command->end()) return {"not told: " + setting};
    command->erase(at - 1, at + 1);
  }
  return *command;
}

TEST(JobsElsewhere, AreThoseWithAHost) {
  EXPECT_FALSE(isElsewhere(cli::parseOptions({"--jobs"}).options.detached));
  EXPECT_FALSE(isElsewhere(cli::parseOptions({"--logs", "7"}).options.detached));
}

TEST(JobsElsewhere, AreListedByThePoprunThere) {
  EXPECT_THAT(commandOf({"--jobs", "h1:", "--json", "--connect-timeout", "2.5"}),
              ElementsAre("ssh", "-o", "ConnectTimeout=3", "h1", "poprun --json --jobs"));
}

TEST(JobsElsewhere, TakeTheOptionsAboutOutput) {
  EXPECT_THAT(commandOf({"--logs", "me@h1:2222:train", "-f", "-v", "--tag-output", "host", "--fold-output",
                         "--only-stdout-from-instance", "1", "--ssh-config", "my conf"}),
              ElementsAre("ssh", "-F", "my conf", "-o", "ConnectTimeout=10", "-p", "2222", "me@h1",
                          "poprun -v --tag-output=host --fold-output=yes --only-stdout-from-instance=1 "
                          "--follow --logs=train"));
  EXPECT_THAT(commandOf({"--cancel", "h1:7", "--rsh", "ssh -J gate"}),
              ElementsAre("ssh", "-J", "gate", "-o", "ConnectTimeout=10", "h1", "poprun --cancel=7"));
}

TEST(JobsElsewhere, AreAttachedToAtATerminalThere) {
  EXPECT_THAT(commandOf({"--attach", "h1:7", "--control"}, true),
              ElementsAre("ssh", "-o", "ConnectTimeout=10", "-t", "h1", "poprun --control --attach=7"));
  EXPECT_THAT(commandOf({"--attach", "h1:7"}, false),
              ElementsAre("ssh", "-o", "ConnectTimeout=10", "h1", "poprun --attach=7"));
  EXPECT_THAT(commandOf({"--logs", "h1:7"}, true),
              ElementsAre("ssh", "-o", "ConnectTimeout=10", "h1", "poprun --logs=7"));
}

TEST(JobsElsewhere, NeedTheNameOfAHost) {
  EXPECT_THAT(commandOf({"--logs", "h1:x:7"}), ElementsAre(::testing::HasSubstr("h1:x")));
}

}  // namespace
}  // namespace pop
