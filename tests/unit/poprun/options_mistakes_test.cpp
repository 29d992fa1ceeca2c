// SPDX-License-Identifier: Apache-2.0
// Command lines that are wrong: every mistake is named, and none hides another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "poprun/options.h"

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

using Arguments = std::vector<std::string>;

std::vector<std::string> mistakesIn(const Arguments& arguments) {
  return parseOptions(arguments).mistakes;
}

TEST(ParseOptionsMistakes, UnknownOptionsAreNamed) {
  EXPECT_THAT(
      mistakesIn({"--nmu-instances=2", "x"}),
      ElementsAre(
          "--nmu-instances: no such option (`poprun --help` lists them; a program's own options follow "
          "its name)"));
  for (const char* unknown :
       {"-x", "-np", "-Hhost", "-vvv", "--HOST", "-host", "--num-instance", "--=2", "---host"}) {
    EXPECT_THAT(mistakesIn({unknown, "x"}), ElementsAre(HasSubstr("no such option"))) << unknown;
  }
}

TEST(ParseOptionsMistakes, AnUnknownOptionDoesNotHideTheRest) {
  const ParsedOptions parsed = parseOptions({"--bogus", "--num-instances=2", "./train"});
  EXPECT_EQ(parsed.options.programs.front().num_instances, 2);
  EXPECT_THAT(parsed.options.programs.front().command, ElementsAre("./train"));
}

TEST(ParseOptionsMistakes, AValueMustFollow) {
  EXPECT_THAT(mistakesIn({"--num-instances"}), ElementsAre("--num-instances: needs a value"));
  EXPECT_THAT(mistakesIn({"-v", "-H"}), ElementsAre("-H: needs a value"));
}

TEST(ParseOptionsMistakes, FlagsTakeNoValue) {
  EXPECT_THAT(mistakesIn({"--dry-run=yes", "x"}), ElementsAre("--dry-run: takes no value"));
  EXPECT_THAT(mistakesIn({"--help=x", "-v=2", "x"}),
              ElementsAre("--help: takes no value", "-v: takes no value"));
}

TEST(ParseOptionsMistakes, NumbersMustBeNumbers) {
  for (const char* option :
       {"--num-instances", "--num-replicas", "--ipus-per-replica", "--only-output-from-instance"}) {
    const std::string name = option;
    EXPECT_THAT(mistakesIn({name, "two", "x"}), ElementsAre(name + ": 'two' is not a whole number"));
    EXPECT_THAT(mistakesIn({name + "=4x", "x"}), ElementsAre(name + ": '4x' is not a whole number"));
    EXPECT_THAT(mistakesIn({name + "=", "x"}), ElementsAre(name + ": '' is not a whole number"));
    EXPECT_THAT(mistakesIn({name + "=2147483648", "x"}), ElementsAre(name + ": '2147483648' is too large"));
    EXPECT_THAT(mistakesIn({name + "=99999999999999999999", "x"}), ElementsAre(HasSubstr("is too large")));
  }
}

TEST(ParseOptionsMistakes, BooleansMustBeBooleans) {
  EXPECT_THAT(mistakesIn({"--offline-mode", "perhaps", "x"}),
              ElementsAre("--offline-mode: 'perhaps' is not a boolean (yes/no, on/off, true/false or 1/0)"));
  EXPECT_THAT(mistakesIn({"--tag-output=rank", "x"}),
              ElementsAre("--tag-output: 'rank' is not auto, instance, yes or no"));
}

TEST(ParseOptionsMistakes, ABooleanWithoutItsValueTakesTheProgramForIt) {
  const ParsedOptions parsed = parseOptions({"--print-topology", "./train"});
  EXPECT_THAT(parsed.mistakes, ElementsAre(StartsWith("--print-topology: './train' is not a boolean")));
  EXPECT_THAT(parsed.options.programs.front().command, IsEmpty());
}

TEST(ParseOptionsMistakes, ComeOutAllAtOnce) {
  EXPECT_THAT(
      mistakesIn({"--num-instances", "two", "--num-replicas=4x", "--bogus", "--ipus-per-replica=99999999999",
                  "--offline-mode=perhaps", "--tag-output", "rank", "--dry-run=1", "--system"}),
      UnorderedElementsAre(StartsWith("--num-instances:"), StartsWith("--num-replicas:"),
                           StartsWith("--bogus:"), StartsWith("--ipus-per-replica:"),
                           StartsWith("--offline-mode:"), StartsWith("--tag-output:"),
                           StartsWith("--dry-run:"), StartsWith("--system:")));
}

TEST(ParseOptionsMistakes, HelpIsHeardInSpiteOfThem) {
  const ParsedOptions parsed = parseOptions({"--bogus", "--num-instances=two", "--help"});
  EXPECT_TRUE(parsed.options.help);
  EXPECT_EQ(parsed.mistakes.size(), 2U);
}

}  // namespace
}  // namespace pop
