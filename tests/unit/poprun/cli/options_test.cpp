// SPDX-License-Identifier: Apache-2.0
// Command lines that are right, in all their spellings.
#include "poprun/cli/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

using Arguments = std::vector<std::string>;

Options optionsOf(const Arguments& arguments) {
  const cli::ParsedOptions parsed = cli::parseOptions(arguments);
  EXPECT_THAT(parsed.mistakes, IsEmpty());
  return parsed.options;
}

TEST(ParseOptions, DefaultsToOneInstanceHere) {
  const Options options = optionsOf({"./train"});
  EXPECT_EQ(options.host, "");
  EXPECT_EQ(options.programs.front().num_instances, std::nullopt);
  EXPECT_EQ(numInstances(options), 1);
  EXPECT_EQ(options.num_replicas, std::nullopt);
  EXPECT_EQ(options.ipus_per_replica, 1);
  EXPECT_EQ(options.system, "");
  EXPECT_FALSE(options.offline_mode);
  EXPECT_EQ(options.tag_output, TagOutput::kAuto);
  EXPECT_EQ(options.only_output_from_instance, std::nullopt);
  EXPECT_FALSE(options.print_topology || options.help || options.version);
  EXPECT_EQ(options.verbosity, 0);
  EXPECT_THAT(options.programs.front().command, ElementsAre("./train"));
}

TEST(ParseOptions, TakesAValueAfterASpaceOrAnEqualsSign) {
  for (const Arguments& arguments :
       {Arguments{"--num-instances", "4", "--num-replicas", "8", "--ipus-per-replica", "2", "--system",
                  "pod16", "x"},
        Arguments{"--num-instances=4", "--num-replicas=8", "--ipus-per-replica=2", "--system=pod16", "x"}}) {
    const Options options = optionsOf(arguments);
    EXPECT_EQ(options.programs.front().num_instances, 4);
    EXPECT_THAT(options.num_replicas, Optional(8));
    EXPECT_EQ(options.ipus_per_replica, 2);
    EXPECT_EQ(options.system, "pod16");
  }
}

TEST(ParseOptions, TakesTheHostInEverySpelling) {
  for (const Arguments& arguments : {Arguments{"-H", "a,b", "x"}, Arguments{"-H=a,b", "x"},
                                     Arguments{"--host", "a,b", "x"}, Arguments{"--host=a,b", "x"}}) {
    EXPECT_EQ(optionsOf(arguments).host, "a,b");
    EXPECT_THAT(optionsOf(arguments).programs.front().command, ElementsAre("x"));
  }
}

TEST(ParseOptions, TakesBooleansInAllSpellings) {
  for (const char* yes : {"yes", "on", "true", "1", "YES", "True"}) {
    EXPECT_TRUE(optionsOf({"--offline-mode", yes, "x"}).offline_mode) << yes;
    EXPECT_TRUE(optionsOf({std::string("--print-topology=") + yes, "x"}).print_topology) << yes;
  }
  for (const char* no : {"no", "off", "false", "0", "Off"}) {
    EXPECT_FALSE(optionsOf({"--offline-mode", no, "x"}).offline_mode) << no;
    EXPECT_FALSE(optionsOf({std::string("--print-topology=") + no, "x"}).print_topology) << no;
  }
}

TEST(ParseOptions, TakesHowToTagOutput) {
  EXPECT_EQ(optionsOf({"--tag-output", "yes", "x"}).tag_output, TagOutput::kInstance);
  EXPECT_EQ(optionsOf({"--tag-output=instance", "x"}).tag_output, TagOutput::kInstance);
  EXPECT_EQ(optionsOf({"--tag-output=off", "x"}).tag_output, TagOutput::kNo);
  EXPECT_EQ(optionsOf({"--tag-output=auto", "x"}).tag_output, TagOutput::kAuto);
}

TEST(ParseOptions, CountsVerbosity) {
  EXPECT_EQ(optionsOf({"-v", "x"}).verbosity, 1);
  EXPECT_EQ(optionsOf({"--verbose", "x"}).verbosity, 1);
  EXPECT_EQ(optionsOf({"-vv", "x"}).verbosity, 2);
  EXPECT_EQ(optionsOf({"--vv", "x"}).verbosity, 2);
  EXPECT_EQ(optionsOf({"-v", "--verbose", "x"}).verbosity, 2);
  EXPECT_EQ(optionsOf({"--vv", "-v", "x"}).verbosity, 2) << "there is no more";
}

TEST(ParseOptions, TakesFlags) {
  EXPECT_EQ(optionsOf({"--dry-run", "x"}).dry_run, DryRun::kText);
  EXPECT_TRUE(optionsOf({"--help"}).help);
  EXPECT_TRUE(optionsOf({"--version"}).version);
  EXPECT_THAT(optionsOf({"--only-output-from-instance", "0", "x"}).only_output_from_instance, Optional(0));
}

TEST(ParseOptions, LeavesTheProgramsOwnOptionsAlone) {
  const Options options =
      optionsOf({"--num-instances=2", "./train", "--num-instances=9", "-v", "--help", "--", "-H", "a b", ""});
  EXPECT_EQ(options.programs.front().num_instances, 2);
  EXPECT_EQ(options.verbosity, 0);
  EXPECT_FALSE(options.help);
  EXPECT_THAT(options.programs.front().command,
              ElementsAre("./train", "--num-instances=9", "-v", "--help", "--", "-H", "a b", ""));
}

TEST(ParseOptions, ADoubleDashStartsTheProgram) {
  EXPECT_THAT(optionsOf({"--", "--odd-name", "--num-instances=9"}).programs.front().command,
              ElementsAre("--odd-name", "--num-instances=9"));
  EXPECT_THAT(optionsOf({"-v", "--", "./train", "--", "x"}).programs.front().command,
              ElementsAre("./train", "--", "x"));
  EXPECT_THAT(optionsOf({"--"}).programs.front().command, IsEmpty());
}

TEST(ParseOptions, ASingleDashOrAnEmptyWordIsAProgram) {
  EXPECT_THAT(optionsOf({"-", "x"}).programs.front().command, ElementsAre("-", "x"));
  EXPECT_THAT(optionsOf({"", "x"}).programs.front().command, ElementsAre("", "x"));
}

TEST(ParseOptions, TakesTheLastOfRepeatedOptions) {
  const Options options =
      optionsOf({"--num-instances", "2", "--host=a", "--num-instances=3", "-H", "b", "x"});
  EXPECT_EQ(options.programs.front().num_instances, 3);
  EXPECT_EQ(options.host, "b");
}

TEST(ParseOptions, TakesValuesAsTheyAre) {
  for (const char* value :
       {"a=b", "[0]", "[a,b]", "{a}", "a b", "\"a\"", "'a'", "-x", "--dry-run", "--", "-", "%%", "ä"}) {
    EXPECT_EQ(optionsOf({"--host", value, "x"}).host, value);
    EXPECT_EQ(optionsOf({std::string("--host=") + value, "x"}).host, value);
    EXPECT_EQ(optionsOf({std::string("-H=") + value, "x"}).host, value);
    EXPECT_THAT(optionsOf({"--host", value, "x"}).programs.front().command, ElementsAre("x")) << value;
  }
}

TEST(ParseOptions, TakesNegativeNumbersAsNumbers) {
  EXPECT_EQ(optionsOf({"--num-instances", "-3", "x"}).programs.front().num_instances, -3)
      << "to be refused for what it is";
}

}  // namespace
}  // namespace pop
