// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/shell_words.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "common/base/text.h"

namespace pop::cli {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool isPlain(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./=:,+@%[]").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

}  // namespace

Result<std::vector<std::string>> splitShell(std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;  // an empty quoted word is a word
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool last = at + 1 == text.size();
    if (quote == 0 && kBlanks.find(c) != std::string_view::npos) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && !last &&
               (quote == 0 || (quote == '"' && (text[at + 1] == '"' || text[at + 1] == '\\')))) {
      *word += text[++at];
    } else {
      *word += c;
    }
  }
  if (quote != 0) return invalidArgument(inQuotes(text) + " has an open quote (" + quote + ')');
  if (word) words.push_back(*word);
  return words;
}

std::string quoteShell(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (isPlain(word)) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

}  // namespace pop::cli
