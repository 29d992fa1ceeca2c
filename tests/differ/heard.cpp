// SPDX-License-Identifier: Apache-2.0
#include "tests/differ/heard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace popdist::testing {

std::chrono::seconds deadlineOf(const Row& row) {
  return waitsForDeadline(row) ? kShortDeadline : kDeadline;
}

void expectHeard(const Row& row, bool over_hosts, const std::vector<std::string>& heard) {
  if (row.heard == Heard::kInNextCall && over_hosts) {
    EXPECT_FALSE(std::ranges::all_of(heard, &std::string::empty));
    return;
  }
  for (const std::string& text : heard) {
    EXPECT_EQ(text.empty(), row.named.empty()) << text;
    if (waitsForDeadline(row)) continue;
    for (const std::string& word : row.named) EXPECT_THAT(text, ::testing::HasSubstr(word));
  }
}

}  // namespace popdist::testing
