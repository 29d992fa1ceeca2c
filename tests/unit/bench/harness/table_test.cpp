// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/table.h"

#include <gtest/gtest.h>

namespace pop::bench {
namespace {

TEST(Table, NamesStandLeftAndNumbersRight) {
  Table table({"N", "poprun"});
  table.addRow({"1024", "3.1"});
  EXPECT_EQ(table.text(),
            "| N    | poprun |\n"
            "|------|-------:|\n"
            "| 1024 |    3.1 |\n");
}

TEST(Table, AShortRowEndsInEmptyCells) {
  Table table({"a", "b"});
  table.addRow({"x"});
  EXPECT_EQ(table.text(),
            "| a   |   b |\n"
            "|-----|----:|\n"
            "| x   |     |\n");
}

TEST(Table, AWidthIsOneOfCharacters) {
  Table table({"time", "µs"});
  table.addRow({"x", "12345"});
  EXPECT_EQ(table.text(),
            "| time |    µs |\n"
            "|------|------:|\n"
            "| x    | 12345 |\n");
}

}  // namespace
}  // namespace pop::bench
