// SPDX-License-Identifier: Apache-2.0
#include "common/base/json.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/utf8.h"

namespace pop {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// `c`: of ASCII, or a C1 control character's number.
std::string escaped(char c) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      if (byte >= 0x20 && byte < 0x7f) return {c};
      return {'\\', 'u', '0', '0', kHex[byte >> 4U], kHex[byte & 15U]};
  }
}

// Splits a JSON object into its members without parsing their values.
class ObjectCutter {
 public:
  using Member = std::pair<std::string_view, std::string_view>;  // key with its quotes, value as written

  explicit ObjectCutter(std::string_view text) : rest_(text) {}

  std::optional<std::vector<Member>> members() {
    if (!take('{')) return std::nullopt;
    std::vector<Member> found;
    if (take('}')) return atEnd(std::move(found));
    while (true) {
      const std::optional<std::string_view> key = string();
      if (!key || !take(':')) return std::nullopt;
      const std::optional<std::string_view> member = value();
      if (!member) return std::nullopt;
      found.emplace_back(*key, *member);
      if (take('}')) return atEnd(std::move(found));
      if (!take(',')) return std::nullopt;
    }
  }

 private:
  std::optional<std::vector<Member>> atEnd(std::vector<Member> found) {
    skipBlanks();
    return rest_.empty() ? std::optional(std::move(found)) : std::nullopt;
  }

  void skipBlanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

  bool take(char wanted) {
    skipBlanks();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view takeBytes(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  // The length of the string at the front, or 0.
  static std::size_t stringBytes(std::string_view text) {
    if (text.empty() || text.front() != '"') return 0;
    for (std::size_t at = 1; at < text.size(); ++at) {
      if (text[at] == '"') return at + 1;
      if (text[at] == '\\') ++at;
    }
    return 0;
  }

  std::optional<std::string_view> string() {
    skipBlanks();
    const std::size_t bytes = stringBytes(rest_);
    return bytes == 0 ? std::nullopt : std::optional(takeBytes(bytes));
  }

  // Up to the comma or bracket that ends the value, outside strings and deeper brackets.
  std::optional<std::string_view> value() {
    skipBlanks();
    std::size_t at = 0;
    for (int depth = 0; at < rest_.size(); ++at) {
      const char c = rest_[at];
      if (c == '"') {
        const std::size_t bytes = stringBytes(rest_.substr(at));
        if (bytes == 0) return std::nullopt;
        at += bytes - 1;
      }
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    }
    while (at > 0 && std::string_view(" \t\r\n").find(rest_[at - 1]) != std::string_view::npos) --at;
    return at == 0 ? std::nullopt : std::optional(takeBytes(at));
  }

  std::string_view rest_;
};

}  // namespace

std::string jsonQuoted(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const bool ascii = static_cast<unsigned char>(text.front()) < 0x80;
    const std::string_view character = text.substr(0, ascii ? 1 : utf8Bytes(text));
    if (ascii || isC1Control(character)) {
      result += escaped(character.back());
    } else {
      result += character.empty() ? kReplacement : character;
    }
    text.remove_prefix(std::max<std::size_t>(character.size(), 1));
  }
  return result + '"';
}

JsonObject& JsonObject::json(std::string_view key, std::string_view value) {
  if (!members_.empty()) members_ += ',';
  members_ += jsonQuoted(key) + ':';
  members_ += value;
  return *this;
}

std::string mergedJsonObjects(std::string_view base, std::string_view over) {
  auto merged = ObjectCutter(base).members();
  const auto added = ObjectCutter(over).members();
  if (!merged || !added) return std::string(over);
  for (const ObjectCutter::Member& member : *added) {
    const auto same = std::find_if(merged->begin(), merged->end(), [&](const ObjectCutter::Member& each) {
      return each.first == member.first;
    });
    if (same == merged->end()) {
      merged->push_back(member);
    } else {
      same->second = member.second;
    }
  }
  std::string json;
  for (const auto& [key, value] : *merged) {
    json += json.empty() ? '{' : ',';
    (json += key) += ':';
    json += value;
  }
  return json.empty() ? "{}" : json + '}';
}

}  // namespace pop
