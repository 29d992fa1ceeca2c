// SPDX-License-Identifier: Apache-2.0
// Several programs on one command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "poprun/cli/parse.h"

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

TEST(Programs, AreSeparatedByAColonEachWithItsOptions) {
  const cli::ParsedOptions parsed =
      cli::parseOptions({"--num-replicas", "6", "-np", "1", "-x", "A=1", "./chief", "--flag", ":", "-np", "2",
                         "--wdir", "/tmp", "./worker", ":", "-n=3", "--", "./last"});
  EXPECT_THAT(parsed.mistakes, IsEmpty());
  ASSERT_EQ(parsed.options.programs.size(), 3U);
  const auto& programs = parsed.options.programs;
  EXPECT_EQ(numInstances(parsed.options), 6);
  EXPECT_THAT(parsed.options.num_replicas, Optional(6));
  EXPECT_THAT(programs[0].command, ElementsAre("./chief", "--flag"));
  EXPECT_THAT(programs[0].environment, ElementsAre("A=1"));
  EXPECT_THAT(programs[1].command, ElementsAre("./worker"));
  EXPECT_THAT(programs[1].environment, IsEmpty()) << "-x is of one program, as with mpirun";
  EXPECT_EQ(programs[1].working_directory, "/tmp");
  EXPECT_THAT(programs[2].num_instances, Optional(3));
  EXPECT_THAT(programs[2].command, ElementsAre("./last"));
}

TEST(Programs, AColonWithinAWordOrAfterADoubleDashIsTheProgramsOwn) {
  EXPECT_EQ(cli::parseOptions({"x", "a:b", "::", ": "}).options.programs.size(), 1U);
  const Options options = cli::parseOptions({"--", "sh", "-c", ":", "x"}).options;
  ASSERT_EQ(options.programs.size(), 1U);
  EXPECT_THAT(options.programs.front().command, ElementsAre("sh", "-c", ":", "x"));
}

TEST(Programs, OptionsOfTheJobComeBeforeTheFirst) {
  EXPECT_THAT(cli::parseOptions({"-np", "1", "a", ":", "--num-replicas", "2", "-np", "1", "b"}).mistakes,
              ElementsAre("--num-replicas: is only allowed before the first program; only --num-instances, "
                          "-x and --wdir can be set for each program"));
}

TEST(Programs, AnEmptyOneIsKeptToBeRefused) {
  EXPECT_EQ(cli::parseOptions({"a", ":"}).options.programs.size(), 2U);
  EXPECT_EQ(cli::parseOptions({":"}).options.programs.size(), 2U);
  EXPECT_EQ(cli::parseOptions({}).options.programs.size(), 1U);
}

}  // namespace
}  // namespace pop
