// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/shell_words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/base/random.h"

namespace pop::cli {
namespace {

using Words = std::vector<std::string>;

TEST(SplitShell, SplitsAsAShellDoes) {
  EXPECT_EQ(splitShell("").value(), Words{});
  EXPECT_EQ(splitShell("  a \t b\n").value(), (Words{"a", "b"}));
  EXPECT_EQ(splitShell(R"(a'b c'"d e"\ f)").value(), (Words{"ab cd e f"}));
  EXPECT_EQ(splitShell(R"('' "")").value(), (Words{"", ""}));
  EXPECT_EQ(splitShell(R"("a\"b\\c\d" 'e\f' \g)").value(), (Words{R"(a"b\c\d)", R"(e\f)", "g"}));
  EXPECT_FALSE(splitShell("a 'b").ok());
  EXPECT_FALSE(splitShell("\"").ok());
}

TEST(QuoteShell, IsTakenApartAgain) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SplitMix64 random(seed);
    Words words(random.below(5));
    for (std::string& word : words) {
      for (std::uint64_t length = random.below(6); length > 0; --length)
        word += " '\"\\\na=$#*"[random.below(10)];
    }
    ASSERT_EQ(splitShell(quoteShell(words)).value(), words) << "seed " << seed;
  }
}

}  // namespace
}  // namespace pop::cli
