// SPDX-License-Identifier: Apache-2.0
#include "common/base/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace pop {
namespace {

using Parts = std::vector<std::string>;

TEST(ParseInteger, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parseInteger("0").value(), 0);
  EXPECT_EQ(parseInteger("42").value(), 42);
  EXPECT_EQ(parseInteger("-7").value(), -7);
  EXPECT_EQ(parseInteger("007").value(), 7);
  EXPECT_EQ(parseInteger("9223372036854775807").value(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parseInteger("-9223372036854775808").value(), std::numeric_limits<std::int64_t>::min());
  for (const char* text : {"", " ", "4 ", " 4", "4x", "x4", "0x10", "+4", "1.5", "1e3", "--4", "-"}) {
    EXPECT_EQ(parseInteger(text).code(), Code::kInvalidArgument) << '\'' << text << '\'';
  }
}

TEST(ParseInteger, SaysWhatWasWrong) {
  EXPECT_EQ(parseInteger("four").status().message(), "'four' is not a whole number");
  EXPECT_EQ(parseInteger("9223372036854775808").status(),
            Status(Code::kOutOfRange, "'9223372036854775808' is too large"));
}

TEST(ParseInteger, DoesNotReadBeyondAView) {
  EXPECT_EQ(parseInteger(std::string_view("12345").substr(1, 2)).value(), 23);
  EXPECT_FALSE(parseInteger(std::string_view("4\0", 2)).ok());
}

TEST(ParseBool, TakesAllOfPopRunsSpellings) {
  for (const char* yes : {"yes", "on", "true", "1", "YES", "On", "tRuE"}) {
    ASSERT_TRUE(parseBool(yes).ok()) << yes;
    EXPECT_TRUE(parseBool(yes).value()) << yes;
  }
  for (const char* no : {"no", "off", "false", "0", "NO", "Off", "fAlSe"}) {
    ASSERT_TRUE(parseBool(no).ok()) << no;
    EXPECT_FALSE(parseBool(no).value()) << no;
  }
  for (const char* neither : {"", "y", "n", "2", "yes ", "enable", "tru"})
    EXPECT_FALSE(parseBool(neither).ok());
  EXPECT_EQ(parseBool("maybe").status(),
            invalidArgument("'maybe' is not a boolean (yes/no, on/off, true/false or 1/0)"));
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,b,c", ','), (Parts{"a", "b", "c"}));
  EXPECT_EQ(split("", ','), (Parts{""}));
  EXPECT_EQ(split(",a,,b,", ','), (Parts{"", "a", "", "b", ""}));
}

TEST(Join, IsTheInverseOfSplit) {
  EXPECT_EQ(join(Parts{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join(Parts{}, ","), "");
  for (const char* text : {"a", "a,b", "a,,b", "a,", ",a", ",,", ""}) {
    EXPECT_EQ(join(split(text, ','), ","), text);
  }
}

TEST(Counted, KnowsThePlural) {
  EXPECT_EQ(counted(1, "instance"), "1 instance");
  EXPECT_EQ(counted(0, "instance"), "0 instances");
  EXPECT_EQ(counted(17, "host"), "17 hosts");
}

TEST(InQuotes, MakesControlCharactersVisible) {
  EXPECT_EQ(inQuotes("node 7"), "'node 7'");
  EXPECT_EQ(inQuotes(""), "''");
  EXPECT_EQ(inQuotes("a\tb\n"), "'a\\x09b\\x0a'");
  EXPECT_EQ(inQuotes(std::string_view("\0\x1f\x7f", 3)), "'\\x00\\x1f\\x7f'");
  EXPECT_EQ(inQuotes("\x1b[31mred"), "'\\x1b[31mred'");
}

TEST(InQuotes, LeavesUtf8Readable) {
  EXPECT_EQ(inQuotes("Käse"), "'Käse'");
}

TEST(SizeText, HasOneDigitAfterThePoint) {
  EXPECT_EQ(sizeText(0), "0 B");
  EXPECT_EQ(sizeText(999), "999 B");
  EXPECT_EQ(sizeText(1000), "1.0 kB");
  EXPECT_EQ(sizeText(12'345'678), "12.3 MB");
  EXPECT_EQ(sizeText(999'949), "999.9 kB");
  EXPECT_EQ(sizeText(999'950), "1.0 MB");
  EXPECT_EQ(sizeText(1'200'000'000), "1.2 GB");
  EXPECT_EQ(sizeText(~std::uint64_t{0}), "18.4 EB");
}

TEST(SecondsText, HasNoMoreDigitsThanItTakes) {
  using std::chrono::milliseconds;
  EXPECT_EQ(secondsText(milliseconds(0)), "0");
  EXPECT_EQ(secondsText(milliseconds(300)), "0.3");
  EXPECT_EQ(secondsText(milliseconds(1'001)), "1.001");
  EXPECT_EQ(secondsText(std::chrono::hours(14 * 24)), "1209600");
}

TEST(Printable, MovesNoCursor) {
  EXPECT_EQ(printable("a\x1b[2J\r\x7f\xc3\xa4"), "a\\x1b[2J\\x0d\\x7f\xc3\xa4");
}

TEST(Printable, ShowsTheControlCharactersBeyondAscii) {
  EXPECT_EQ(printable("a\xc2\x9b\x32J\xc2\x80\xc2\x9f\xc2\xa0."),
            "a\\xc2\\x9b2J\\xc2\\x80\\xc2\\x9f\xc2\xa0.");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\x9b\x32J \xe4 \xc3"), "\\x9b2J \\xe4 \\xc3");
  EXPECT_EQ(printable("\xed\xa0\x80 \xf0\x9f\x98\x80"), "\\xed\\xa0\\x80 \xf0\x9f\x98\x80");
}

TEST(ValidUtf8, EscapesOnlyBytesThatAreNoUtf8) {
  EXPECT_EQ(validUtf8("a\x1b[2J\r\x7f \xc2\x9b \xc3\xa4"), "a\x1b[2J\r\x7f \xc2\x9b \xc3\xa4");
  EXPECT_EQ(validUtf8("\x9b\x32J \xe4 \xc3"), "\\x9b2J \\xe4 \\xc3");
  EXPECT_EQ(validUtf8("\xed\xa0\x80 \xf0\x9f\x98\x80"), "\\xed\\xa0\\x80 \xf0\x9f\x98\x80");
}

TEST(Bounded, CutsLongTextsBetweenCharactersAndCountsTheRest) {
  EXPECT_EQ(bounded(""), "");
  EXPECT_EQ(bounded("a\xff"), "a\\xff");
  const std::string fits(kMostTextBytes, 'x');
  EXPECT_EQ(bounded(fits), fits);
  EXPECT_EQ(bounded(std::string(100, 'x'), 60), std::string(20, 'x') + "… and 80 more bytes");
  for (const std::string& each : {std::string("x"), std::string("\xff"), std::string("\xc3\xa4"),
                                  std::string("\xf0\x9f\x98\x80"), std::string("\xe2\x82")}) {
    std::string long_text = "abc";
    while (long_text.size() < (std::size_t{1} << 20)) long_text += each;
    const std::string cut = bounded(long_text);
    EXPECT_LE(cut.size(), kMostTextBytes);
    EXPECT_GT(cut.size(), kMostTextBytes - 50);
    EXPECT_EQ(validUtf8(cut), cut);
    EXPECT_TRUE(cut.ends_with(" more bytes")) << cut.substr(cut.size() - 30);
    EXPECT_EQ(bounded(cut), cut) << "cut again";
  }
}

TEST(LowerCase, LeavesAllButTheCapitalsOfAscii) {
  EXPECT_EQ(lowerCase("AzZ [`{ \xc3\x84"), "azz [`{ \xc3\x84");
}

TEST(MatchesWildcards, FromTheFirstCharacterToTheLast) {
  for (const char* pattern :
       {"NCCL_DEBUG", "NCCL_*", "*", "**", "*DEBUG", "N*_D*G", "NCCL?DEBUG", "*?", "N*G*"})
    EXPECT_TRUE(matchesWildcards("NCCL_DEBUG", pattern)) << pattern;
  for (const char* pattern : {"NCCL", "DEBUG", "", "NCCL_DEBUG?", "?NCCL*", "N*X", "*_", "[N]*"})
    EXPECT_FALSE(matchesWildcards("NCCL_DEBUG", pattern)) << pattern;
  EXPECT_TRUE(matchesWildcards("", "") && matchesWildcards("", "*"));
  EXPECT_FALSE(matchesWildcards("", "?"));
  EXPECT_TRUE(matchesWildcards("abab", "*ab")) << "not at the first place where it could be";
}

TEST(MatchesWildcards, SoonComesToAnEnd) {
  std::string stars;
  for (int i = 0; i < 200; ++i) stars += "*a";
  EXPECT_FALSE(matchesWildcards(std::string(5000, 'a'), stars + "b"));
}

TEST(Trimmed, LosesBlanksAtBothEndsAndNothingElse) {
  EXPECT_EQ(trimmed(" \ta b\tc \r"), "a b\tc");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \t\r"), "");
  EXPECT_EQ(trimmed(""), "");
}

}  // namespace
}  // namespace pop
