// SPDX-License-Identifier: Apache-2.0
// Damaged JSON: whatever the bytes, the answer is an error or a value that says the same when it is written
// and read again. Seeded, so that a failure comes back; the message names its round.
#include <gtest/gtest.h>

#include <string>

#include "common/base/json.h"
#include "common/base/json_reader.h"
#include "common/base/random.h"

namespace pop {
namespace {

constexpr int kJsonRounds = 20'000;

std::string written(const JsonValue& value) {
  if (const auto* text = value.text()) return jsonQuoted(*text);
  if (const auto* boolean = value.boolean()) return *boolean ? "true" : "false";
  if (const auto* members = value.object()) {
    JsonObject object;
    for (const auto& [name, member] : *members) object.json(name, written(member));
    return object.str();
  }
  if (const auto* items = value.array()) {
    std::string text = "[";
    for (const JsonValue& item : *items) text += (text.size() > 1 ? "," : "") + written(item);
    return text + "]";
  }
  if (value.isNull()) return "null";
  const auto whole = value.uint64();
  return whole ? std::to_string(*whole) : "-1";  // other numbers are not compared
}

std::string validText(SplitMix64& random, int depth) {
  switch (random.below(depth > 4 ? 4 : 7)) {
    case 0:
      return std::to_string(random.next() >> random.below(64));
    case 1:
      return random.below(2) == 0 ? "true" : "null";
    case 2:
      return R"("\ud83d\ude00 \u00e4 \" text")";
    case 3:
      return "-1.5e-3";
    case 4: {
      std::string text = "[";
      for (auto left = random.below(4); left > 0; --left) text += validText(random, depth + 1) + ",";
      return text + "0 ]";
    }
    default: {
      std::string text = "{ ";
      for (auto left = random.below(4); left > 0; --left)
        text += "\"name " + std::to_string(left) + "\": " + validText(random, depth + 1) + ", ";
      return text + "\"\":[]}";
    }
  }
}

void damage(std::string& text, SplitMix64& random) {
  constexpr const char* kNasty[] = {"{", "}",   "[",       "]",        "\"", "\\", ",",    ":",
                                    "e", "\\u", "\\ud800", "\xed\xa0", "0",  "-",  "\x01", ""};
  for (auto times = random.below(3); times > 0 && !text.empty(); --times) {
    const std::size_t at = random.below(text.size());
    switch (random.below(3)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text.replace(at, random.below(3), kNasty[random.below(std::size(kNasty))]);
        break;
      default:
        text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
    }
  }
}

TEST(JsonFuzz, DamagedTextIsAnErrorOrMeansTheSameWhenWrittenAgain) {
  SplitMix64 random(20261126);
  int accepted = 0;
  for (int round = 0; round < kJsonRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::string text = validText(random, 0);
    damage(text, random);
    const Result<JsonValue> value = parseJson(text);
    if (!value.ok()) {
      ASSERT_FALSE(value.status().message().empty());
      continue;
    }
    ++accepted;
    const std::string once = written(value.value());
    const Result<JsonValue> again = parseJson(once);
    ASSERT_TRUE(again.ok()) << once << ": " << again.status().message();
    ASSERT_EQ(written(again.value()), once);
  }
  EXPECT_GT(accepted, kJsonRounds / 4);
  EXPECT_LT(accepted, kJsonRounds * 9 / 10);
}

}  // namespace
}  // namespace pop
