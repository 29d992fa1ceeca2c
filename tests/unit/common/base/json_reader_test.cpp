// SPDX-License-Identifier: Apache-2.0
#include "common/base/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/base/json.h"

namespace pop {
namespace {

JsonValue parsed(std::string_view text) {
  Result<JsonValue> value = parseJson(text);
  EXPECT_TRUE(value.ok()) << text << ": " << value.status().message();
  return value.ok() ? std::move(value).value() : JsonValue();
}

TEST(JsonReader, ReadsEveryKindOfValue) {
  const JsonValue value = parsed(R"( {"a": [1, -2.5e3, "x", true, false, null, {}, []], "b":{"c":"d"}} )");
  ASSERT_NE(value.find("a"), nullptr);
  const JsonValue::Array& items = *value.find("a")->array();
  ASSERT_EQ(items.size(), 8U);
  EXPECT_EQ(items[0].uint64(), 1U);
  EXPECT_EQ(items[1].number(), -2500.0);
  EXPECT_EQ(*items[2].text(), "x");
  EXPECT_TRUE(*items[3].boolean());
  EXPECT_FALSE(*items[4].boolean());
  EXPECT_TRUE(items[5].isNull());
  EXPECT_TRUE(items[6].object()->empty());
  EXPECT_TRUE(items[7].array()->empty());
  EXPECT_EQ(*value.find("b")->find("c")->text(), "d");
  EXPECT_EQ(value.find("c"), nullptr);
  EXPECT_EQ(items[0].find("c"), nullptr);
}

TEST(JsonReader, WholeNumbersLoseNoDigit) {
  EXPECT_EQ(parsed("18446744073709551615").uint64(), UINT64_MAX);
  EXPECT_EQ(parsed("9007199254740993").uint64(), 9007199254740993U);
  for (const char* text : {"18446744073709551616", "-1", "1.0", "1e2", "\"1\""})
    EXPECT_EQ(parsed(text).uint64(), std::nullopt) << text;
}

TEST(JsonReader, ReadsEscapesAsWholeCharacters) {
  EXPECT_EQ(*parsed(R"("\"\\\/\b\f\n\r\t")").text(), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(*parsed(R"("\u0041\u00e4\u20ac\ud83d\ude00")").text(), "A\u00e4\u20ac\U0001f600");
  EXPECT_EQ(*parsed(R"("\u0000")").text(), std::string(1, '\0'));
  for (const char* text : {R"("\ud83d")", R"("\ude00")", R"("\ud83dx")", R"("\ud83d\u0041")", R"("\u00g0")",
                           R"("\u12")", R"("\x")", R"("\)"})
    EXPECT_FALSE(parseJson(text).ok()) << text;
}

TEST(JsonReader, RefusesWhatIsNotJson) {
  for (const char* text : {"",          " ",         "{",     "}",     "[1,]",   "{,}",      "{\"a\":1,}",
                           "{\"a\" 1}", "{a:1}",     "{1:1}", "[1 2]", "nul",    "True",     "01",
                           "-",         "-01",       "+1",    "1.",    ".5",     "1e",       "1e+",
                           "0x1",       "NaN",       "1 2",   "\"a",   "\"\t\"", "\"\xff\"", "\"\xc0\x80\"",
                           "// no\n1",  "{\"a\":1}x"})
    EXPECT_EQ(parseJson(text).status().code(), Code::kInvalidArgument) << text;
  EXPECT_THAT(parseJson("[1,\n!]").status().message(), ::testing::HasSubstr("at byte 4"));
}

TEST(JsonReader, RefusesNamesThatComeTwice) {
  EXPECT_THAT(parseJson(R"({"a":1,"b":2,"\u0061":3})").status().message(), ::testing::HasSubstr("'a'"));
  EXPECT_TRUE(parseJson(R"([{"a":1},{"a":{"a":2}}])").ok());
}

TEST(JsonReader, NestingEnds) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_TRUE(parseJson(nested(kJsonMostNesting)).ok());
  EXPECT_FALSE(parseJson(nested(kJsonMostNesting + 2)).ok());
  EXPECT_FALSE(parseJson(std::string(10'000'000, '[')).ok());
}

TEST(JsonReader, ReadsWhatWeWrite) {
  const std::string odd = "\x01\x1f\"\\/\n\u00e4\U0001f600\u0085 end";
  const std::string text = JsonObject().text("odd", odd).number("n", -7).boolean("b", true).str();
  const JsonValue value = parsed(text);
  EXPECT_EQ(*value.find("odd")->text(), odd);
  EXPECT_EQ(value.find("n")->number(), -7.0);
  EXPECT_TRUE(*value.find("b")->boolean());
}

}  // namespace
}  // namespace pop
