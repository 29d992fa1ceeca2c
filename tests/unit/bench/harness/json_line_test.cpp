// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/json_line.h"

#include <gtest/gtest.h>

#include <limits>

namespace pop::bench {
namespace {

TEST(JsonLine, KeepsTheOrderOfItsFields) {
  EXPECT_EQ(JsonLine("run").add("n", 8).add("wall_ms", 1.5).add("quiet", true).text(),
            R"({"type": "run", "n": 8, "wall_ms": 1.5, "quiet": true})");
}

TEST(JsonLine, EscapesWhatEndsAStringOrALine) {
  EXPECT_EQ(JsonLine("a\"b\\c\nd").text(), R"({"type": "a\"b\\c\nd"})");
}

TEST(JsonLine, BytesBeyondAsciiStayValid) {
  EXPECT_EQ(JsonLine("\xff").text(), R"({"type": "�"})");
}

TEST(JsonLine, WhatIsNoNumberIsNull) {
  EXPECT_EQ(JsonLine("x").add("v", std::numeric_limits<double>::quiet_NaN()).text(),
            R"({"type": "x", "v": null})");
}

}  // namespace
}  // namespace pop::bench
