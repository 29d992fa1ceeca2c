// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/stderr_tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StderrTail, HasTheLastTenLines) {
  StderrTail tail(2);
  EXPECT_THAT(tail.lines(1), IsEmpty());
  for (int line = 0; line < 1000; ++line) tail.note(1, "line " + std::to_string(line) + '\n');
  const std::vector<std::string> lines = tail.lines(1);
  ASSERT_EQ(lines.size(), StderrTail::kLines);
  EXPECT_EQ(lines.front(), "line 990");
  EXPECT_EQ(lines.back(), "line 999");
  EXPECT_THAT(tail.lines(0), IsEmpty());
}

TEST(StderrTail, IsBoundedAndBeginsWithAWholeLine) {
  StderrTail tail(1);
  for (int line = 0; line < 100; ++line)
    tail.note(0, std::string(700, static_cast<char>('a' + line % 26)) + '\n');
  EXPECT_THAT(tail.lines(0), ElementsAre(std::string(700, 'u'), std::string(700, 'v')));
  tail.note(0, std::string(1 << 20, 'x'));
  ASSERT_EQ(tail.lines(0).size(), 1U);
  EXPECT_EQ(tail.lines(0)[0], std::string(StderrTail::kBytes, 'x'));
}

TEST(StderrTail, BeginsWithAWholeLineWhenAllCameAtOnce) {
  std::string text;
  for (const char letter : {'a', 'b', 'c', 'd'}) text += std::string(700, letter) + '\n';
  for (const std::size_t newlines : {0U, 1U, 3U}) {
    StderrTail tail(1);
    tail.note(0, text + "boom" + std::string(newlines, '\n'));
    EXPECT_THAT(tail.lines(0), ElementsAre(std::string(700, 'c'), std::string(700, 'd'), "boom")) << newlines;
  }
}

TEST(StderrTail, BeginsWithAWholeLineWhenItComesInPieces) {
  StderrTail tail(1);
  for (const char letter : {'a', 'b', 'c', 'd', 'e', 'f'}) tail.note(0, std::string(700, letter) + '\n');
  EXPECT_THAT(tail.lines(0), ElementsAre(std::string(700, 'e'), std::string(700, 'f')));
}

TEST(StderrTail, JoinsPiecesAndDropsEmptyLinesAtTheEnd) {
  StderrTail tail(1);
  tail.note(0, "Key");
  tail.note(0, "Error\n\nend");
  tail.note(0, "ed\r\n\n\n");
  EXPECT_THAT(tail.lines(0), ElementsAre("KeyError", "", "ended"));
}

TEST(StderrTail, ShowsTheLastStateOfAProgressBar) {
  StderrTail tail(1);
  tail.note(0, " 10%\r 20%\r 30%\nboom\r\n");
  EXPECT_THAT(tail.lines(0), ElementsAre(" 30%", "boom"));
}

}  // namespace
}  // namespace pop
