// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/tools/algorithms/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace popdist::algorithms {
namespace {

using plan::Operation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Parsed parse(std::vector<const char*> words) {
  words.insert(words.begin(), kProgram);
  return parseOptions(static_cast<int>(words.size()), words.data());
}

TEST(Options, AreAllOperationsAndSizesUnlessToldOtherwise) {
  const Parsed parsed = parse({});
  EXPECT_FALSE(parsed.exit_code.has_value()) << parsed.text;
  EXPECT_EQ(parsed.options.operations.size(), 10U);
  EXPECT_THAT(parsed.options.bytes, ElementsAre(8, 64, 512, 4096, 32768, 262144, 2097152, 16777216));
}

TEST(Options, ChooseOperationsAndSizes) {
  const Parsed parsed = parse({"--op", "sendRecv,allReduce", "--bytes", "12,4k,1M", "--repeats", "3"});
  EXPECT_FALSE(parsed.exit_code.has_value()) << parsed.text;
  EXPECT_THAT(parsed.options.operations, ElementsAre(Operation::kAllReduce, Operation::kSendRecv));
  EXPECT_THAT(parsed.options.bytes, ElementsAre(12, 4096, 1048576));
  EXPECT_EQ(parsed.options.repeats, 3);
}

TEST(Options, ThatAreWrongAreNamed) {
  for (const std::vector<const char*>& wrong : {std::vector<const char*>{"--op", "sum"},
                                                {"--bytes", "0"},
                                                {"--bytes", "2G"},
                                                {"--repeats", "0"},
                                                {"--times", "3"}}) {
    const Parsed parsed = parse(wrong);
    EXPECT_EQ(parsed.exit_code, 1);
    EXPECT_THAT(parsed.text, HasSubstr(wrong.front()));
  }
}

TEST(Options, HelpNamesTheVariable) {
  const Parsed parsed = parse({"--help"});
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_THAT(parsed.text, HasSubstr("POPDIST_SHARED_ALGORITHM"));
}

}  // namespace
}  // namespace popdist::algorithms
