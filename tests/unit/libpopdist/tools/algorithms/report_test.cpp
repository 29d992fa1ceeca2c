// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/tools/algorithms/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace popdist::algorithms {
namespace {

using plan::Operation;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Row rowOf(std::vector<Timing> timings) {
  return {.task = {Operation::kAllReduce, 65536, Memory::kPrivate}, .timings = std::move(timings)};
}

TEST(Row, MarksTheFastest) {
  const std::string text = inWords(rowOf({{"eager", 20.5}, {"staged", 25}, {"messages", 812.3}}));
  EXPECT_THAT(text,
              StartsWith("  allReduce         65536  private  eager                  20.50*  staged 25.00"));
  EXPECT_THAT(text, HasSubstr(", messages 812\n"));
}

TEST(Row, MarksAChoiceThatTakesOverATenthMore) {
  EXPECT_FALSE(choiceIsSlow(rowOf({{"eager", 10.9}, {"staged", 10}})));
  const Row slow = rowOf({{"eager", 11.1}, {"staged", 10}});
  EXPECT_TRUE(choiceIsSlow(slow));
  EXPECT_THAT(inWords(slow), StartsWith("! allReduce"));
  EXPECT_THAT(inWords(slow), HasSubstr("staged 10.00*"));
}

TEST(Row, OfABarrierHasNoBytes) {
  EXPECT_EQ(inWords({.task = {Operation::kBarrier, 0, Memory::kNone}, .timings = {{"inline", 1}}}),
            "  barrier               -  -        inline                  1.00*\n");
}

TEST(Verdict, CountsRows) {
  EXPECT_EQ(verdict(1, 0), "In 0 of 1 row the choice takes over 10 % more than the fastest.\n");
  EXPECT_EQ(verdict(80, 3), "In 3 of 80 rows the choice takes over 10 % more than the fastest.\n");
}

}  // namespace
}  // namespace popdist::algorithms
