// SPDX-License-Identifier: Apache-2.0
#include "common/base/json.h"

#include <gtest/gtest.h>

namespace pop {
namespace {

TEST(JsonQuoted, EscapesWhatJsonDoesNotTake) {
  EXPECT_EQ(jsonQuoted(""), R"("")");
  EXPECT_EQ(jsonQuoted("a b/é€😀"), "\"a b/é€😀\"");
  EXPECT_EQ(jsonQuoted("say \"hi\"\\\n\t\r"), R"("say \"hi\"\\\n\t\r")");
  EXPECT_EQ(jsonQuoted(std::string_view("\0\x1f\x7f", 3)), R"("\u0000\u001f\u007f")");
  const std::string cursor_home = "\xc2\x9bH";  // which terminals obey
  EXPECT_EQ(jsonQuoted(cursor_home + "\xc2\x80\xc2\x9f"), R"("\u009bH\u0080\u009f")");
  EXPECT_EQ(jsonQuoted("\xc2\xa0"), "\"\xc2\xa0\"") << "no control character";
}

TEST(JsonQuoted, ReplacesEachByteThatIsNoUtf8) {
  const std::string bad = "\xef\xbf\xbd";
  for (const char* text : {"\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98"}) {
    EXPECT_EQ(jsonQuoted(text).substr(0, 4), '"' + bad) << text;
  }
  EXPECT_EQ(jsonQuoted("a\xc3z"), "\"a" + bad + "z\"");
  EXPECT_EQ(jsonQuoted("\xc0\xaf"), '"' + bad + bad + '"') << "overlong";
  EXPECT_EQ(jsonQuoted("\xed\xa0\x80"), '"' + bad + bad + bad + '"') << "a surrogate";
  EXPECT_EQ(jsonQuoted("\xf4\x90\x80\x80"), '"' + bad + bad + bad + bad + '"') << "beyond U+10FFFF";
}

TEST(JsonObject, HoldsMembersOfAllKinds) {
  EXPECT_EQ(JsonObject().str(), "{}");
  EXPECT_EQ(JsonObject().text("a\"", "b").number("n", -3).boolean("t", true).json("l", "[1]").str(),
            R"({"a\"":"b","n":-3,"t":true,"l":[1]})");
}

TEST(MergedJsonObjects, TheSecondsMembersWin) {
  EXPECT_EQ(mergedJsonObjects(R"({"a":"1","b":"2"})", R"({ "b" : "3" , "c" : [1, {"x":"}"}] })"),
            R"({"a":"1","b":"3","c":[1, {"x":"}"}]})");
  EXPECT_EQ(mergedJsonObjects(R"({"a":"1"})", "{}"), R"({"a":"1"})");
  EXPECT_EQ(mergedJsonObjects("{}", " { } "), "{}");
  EXPECT_EQ(mergedJsonObjects("{}", R"({"a\"}":true,"b":null})"), R"({"a\"}":true,"b":null})");
}

TEST(MergedJsonObjects, WhatIsNoObjectIsTakenAsItIs) {
  for (const char* text : {"", "x", "[]", "{", "{\"a\"}", R"({"a":})", R"({"a":1)", R"({"a":1}x)",
                           R"({"a":"1)", R"({a:1})", R"({"a":1,})", R"({"a":[})"}) {
    EXPECT_EQ(mergedJsonObjects(R"({"k":"v"})", text), text);
  }
}

}  // namespace
}  // namespace pop
