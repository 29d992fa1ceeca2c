// SPDX-License-Identifier: Apache-2.0
#include "common/base/json_reader.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "common/base/text.h"
#include "common/base/utf8.h"

namespace pop {
namespace {

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

void appendUtf8(std::string& text, std::uint32_t code_point) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code_point < 0x80) return add(code_point);
  if (code_point < 0x800) {
    add(0xc0U | code_point >> 6U);
  } else if (code_point < 0x10000) {
    add(0xe0U | code_point >> 12U);
    add(0x80U | (code_point >> 6U & 0x3fU));
  } else {
    add(0xf0U | code_point >> 18U);
    add(0x80U | (code_point >> 12U & 0x3fU));
    add(0x80U | (code_point >> 6U & 0x3fU));
  }
  add(0x80U | (code_point & 0x3fU));
}

// Recursive descent. Every function leaves `at_` behind what it has read.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<JsonValue> document() {
    POP_ASSIGN_OR_RETURN(JsonValue value, parseValue(0));
    skipBlanks();
    if (at_ != text_.size()) return wrong("something follows the value");
    return value;
  }

 private:
  Status wrong(std::string_view what) const {
    return invalidArgument("not JSON: " + std::string(what) + " at byte " + std::to_string(at_));
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void skipBlanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  Result<JsonValue> parseValue(int depth) {
    if (depth > kJsonMostNesting)
      return wrong("more than " + std::to_string(kJsonMostNesting) + " values lie in each other");
    skipBlanks();
    switch (peek()) {
      case '{':
        return parseObject(depth);
      case '[':
        return parseArray(depth);
      case '"': {
        POP_ASSIGN_OR_RETURN(std::string text, parseString());
        return JsonValue(std::move(text));
      }
      case 't':
        return parseWord("true", JsonValue(true));
      case 'f':
        return parseWord("false", JsonValue(false));
      case 'n':
        return parseWord("null", JsonValue());
      default:
        return parseNumber();
    }
  }

  Result<JsonValue> parseWord(std::string_view word, JsonValue value) {
    if (!text_.substr(at_).starts_with(word)) return wrong("no value");
    at_ += word.size();
    return value;
  }

  Result<JsonValue> parseObject(int depth) {
    take('{');
    JsonValue::Object members;
    std::unordered_set<std::string> names;
    skipBlanks();
    if (take('}')) return JsonValue(std::move(members));
    while (true) {
      skipBlanks();
      if (peek() != '"') return wrong("no name of a member");
      POP_ASSIGN_OR_RETURN(std::string name, parseString());
      if (!names.insert(name).second) return wrong("a second member " + inQuotes(name));
      skipBlanks();
      if (!take(':')) return wrong("no colon");
      POP_ASSIGN_OR_RETURN(JsonValue value, parseValue(depth + 1));
      members.emplace_back(std::move(name), std::move(value));
      skipBlanks();
      if (take('}')) return JsonValue(std::move(members));
      if (!take(',')) return wrong("neither a comma nor the end of an object");
    }
  }

  Result<JsonValue> parseArray(int depth) {
    take('[');
    JsonValue::Array items;
    skipBlanks();
    if (take(']')) return JsonValue(std::move(items));
    while (true) {
      POP_ASSIGN_OR_RETURN(JsonValue item, parseValue(depth + 1));
      items.push_back(std::move(item));
      skipBlanks();
      if (take(']')) return JsonValue(std::move(items));
      if (!take(',')) return wrong("neither a comma nor the end of an array");
    }
  }

  Result<std::string> parseString() {
    take('"');
    std::string text;
    while (true) {
      if (at_ >= text_.size()) return wrong("a string without end");
      if (take('"')) return text;
      const auto byte = static_cast<unsigned char>(peek());
      if (byte < 0x20) return wrong("a control character in a string");
      if (take('\\')) {
        POP_RETURN_IF_ERROR(parseEscape(text));
        continue;
      }
      const std::size_t bytes = byte < 0x80 ? 1 : utf8Bytes(text_.substr(at_));
      if (bytes == 0) return wrong("bytes that are not UTF-8");
      text += text_.substr(at_, bytes);
      at_ += bytes;
    }
  }

  Status parseEscape(std::string& text) {
    static constexpr std::string_view kLetters = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (take('u')) return parseCodePoint(text);
    const std::size_t which = at_ < text_.size() ? kLetters.find(text_[at_]) : std::string_view::npos;
    if (which == std::string_view::npos) return wrong("an unknown escape");
    ++at_;
    text += kMeanings[which];
    return {};
  }

  std::optional<std::uint32_t> parseHex4() {
    std::uint32_t unit = 0;
    const char* const begin = text_.data() + at_;
    if (text_.size() - at_ < 4) return std::nullopt;
    if (std::from_chars(begin, begin + 4, unit, 16).ptr != begin + 4) return std::nullopt;
    at_ += 4;
    return unit;
  }

  // One UTF-16 unit, or two that make a character.
  Status parseCodePoint(std::string& text) {
    std::optional<std::uint32_t> unit = parseHex4();
    if (!unit) return wrong("no four hexadecimal digits");
    if (*unit >= 0xd800 && *unit < 0xe000) {
      if (*unit >= 0xdc00 || !take('\\') || !take('u')) return wrong("half a surrogate pair");
      const std::optional<std::uint32_t> low = parseHex4();
      if (!low || *low < 0xdc00 || *low >= 0xe000) return wrong("half a surrogate pair");
      unit = 0x10000 + ((*unit - 0xd800) << 10U) + (*low - 0xdc00);
    }
    appendUtf8(text, *unit);
    return {};
  }

  bool takeDigits() {
    const std::size_t begin = at_;
    while (isDigit(peek())) ++at_;
    return at_ > begin;
  }

  Result<JsonValue> parseNumber() {
    const std::size_t begin = at_;
    take('-');
    const bool zero = peek() == '0';
    if (!takeDigits()) return wrong("no value");
    if (zero && at_ - begin > (text_[begin] == '-' ? 2U : 1U)) return wrong("a number with leading zeros");
    if (take('.') && !takeDigits()) return wrong("no digit after a point");
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!takeDigits()) return wrong("no digit in an exponent");
    }
    return JsonValue(JsonValue::Number{std::string(text_.substr(begin, at_ - begin))});
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

template <typename T>
std::optional<T> wholeNumber(const std::string& text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && parsed == end ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> JsonValue::uint64() const {
  const auto* number = std::get_if<Number>(&value_);
  return number != nullptr ? wholeNumber<std::uint64_t>(number->text) : std::nullopt;
}

std::optional<double> JsonValue::number() const {
  const auto* number = std::get_if<Number>(&value_);
  return number != nullptr ? wholeNumber<double>(number->text) : std::nullopt;
}

const JsonValue* JsonValue::find(std::string_view name) const {
  const Object* members = object();
  if (members == nullptr) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(),
                                  [&](const Member& member) { return member.first == name; });
  return found == members->end() ? nullptr : &found->second;
}

Result<JsonValue> parseJson(std::string_view text) {
  return Parser(text).document();
}

}  // namespace pop
