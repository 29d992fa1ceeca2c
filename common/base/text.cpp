// SPDX-License-Identifier: Apache-2.0
#include "common/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/base/utf8.h"

namespace pop {
namespace {

// The length of the first character of `text`; 0 if a terminal would, or might, interpret it as control.
std::size_t harmlessBytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t bytes = utf8Bytes(text);
  return isC1Control(text.substr(0, bytes)) ? 0 : bytes;
}

// Moves the first character from `text` to `to`, as "\xff" where none begins: then `bytes` is 0.
void takeFirst(std::string_view& text, std::size_t bytes, std::string& to) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  if (bytes > 0) {
    to += text.substr(0, bytes);
  } else {
    const auto byte = static_cast<unsigned char>(text.front());
    to += {'\\', 'x', kHex[byte >> 4U], kHex[byte & 15U]};
  }
  text.remove_prefix(std::max<std::size_t>(bytes, 1));
}

// `text` with "\xff" for each byte where no character begins; `bytesOfFirst` says how long the first one is.
template <typename BytesOfFirst>
std::string escaped(std::string_view text, const BytesOfFirst& bytesOfFirst) {
  std::string result;
  while (!text.empty()) takeFirst(text, bytesOfFirst(text), result);
  return result;
}

std::size_t anyUtf8Bytes(std::string_view text) {
  return static_cast<unsigned char>(text.front()) < 0x80 ? 1 : utf8Bytes(text);
}

}  // namespace

Result<std::int64_t> parseInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return Status(Code::kOutOfRange, inQuotes(text) + " is too large");
  if (error != std::errc() || end != text.data() + text.size()) {
    return invalidArgument(inQuotes(text) + " is not a whole number");
  }
  return value;
}

Result<bool> parseBool(std::string_view text) {
  const std::string lower = lowerCase(text);
  for (const char* yes : {"yes", "on", "true", "1"}) {
    if (lower == yes) return true;
  }
  for (const char* no : {"no", "off", "false", "0"}) {
    if (lower == no) return false;
  }
  return invalidArgument(inQuotes(text) + " is not a boolean (yes/no, on/off, true/false or 1/0)");
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string joined;
  for (const std::string& part : parts) {
    if (&part != parts.data()) joined += separator;
    joined += part;
  }
  return joined;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string lowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return lower;
}

bool matchesWildcards(std::string_view text, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t in_pattern = 0;
  std::size_t star = std::string_view::npos;  // the last one
  std::size_t after_star = 0;                 // end of the star's part of the text, so far
  while (at < text.size()) {
    const bool goes_on = in_pattern < pattern.size();
    if (goes_on && pattern[in_pattern] == '*') {
      star = in_pattern++;
      after_star = at;
    } else if (goes_on && (pattern[in_pattern] == '?' || pattern[in_pattern] == text[at])) {
      ++in_pattern;
      ++at;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      at = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

std::string counted(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

std::string sizeText(std::uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  std::uint64_t tenths = bytes / 100 + (bytes % 100 + 50) / 100;
  std::string_view units = "kMGTPE";
  for (; tenths >= 10000; units.remove_prefix(1)) tenths = (tenths + 500) / 1000;
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + ' ' + units.front() + 'B';
}

std::string numberText(double number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), end};
}

std::string secondsText(std::chrono::milliseconds time) {
  const auto count = time.count();
  std::string text = std::to_string(count / 1000);
  if (count % 1000 == 0) return text;
  const std::string fraction = std::to_string(1000 + count % 1000).substr(1);
  return text + '.' + fraction.substr(0, fraction.find_last_not_of('0') + 1);
}

std::string printable(std::string_view text) {
  return escaped(text, harmlessBytes);
}

std::string validUtf8(std::string_view text) {
  return escaped(text, anyUtf8Bytes);
}

std::string bounded(std::string_view text, std::size_t most) {
  constexpr std::size_t kMostSuffixBytes = 40;  // with any number
  std::string result;
  std::string_view rest = text;
  std::string_view cut = text;  // the part to leave out if all does not fit
  std::size_t fits = 0;
  while (!rest.empty()) {
    takeFirst(rest, anyUtf8Bytes(rest), result);
    if (result.size() + kMostSuffixBytes <= most) {
      fits = result.size();
      cut = rest;
    }
    if (result.size() <= most) continue;
    result.resize(fits);
    return result + "… and " + counted(static_cast<std::int64_t>(cut.size()), "more byte");
  }
  return result;
}

std::string inQuotes(std::string_view text) {
  return '\'' + printable(text) + '\'';
}

}  // namespace pop
