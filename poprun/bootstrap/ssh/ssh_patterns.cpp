// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/ssh_patterns.h"

#include <algorithm>
#include <sstream>
#include <string>

namespace pop {
namespace {

bool matchesPattern(std::string_view name, std::string_view pattern) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    for (std::size_t skip = 0; skip <= name.size(); ++skip) {
      if (matchesPattern(name.substr(skip), pattern.substr(1))) return true;
    }
    return false;
  }
  return !name.empty() && (pattern.front() == '?' || pattern.front() == name.front()) &&
         matchesPattern(name.substr(1), pattern.substr(1));
}

}  // namespace

bool matchesSshPatterns(std::string_view name, std::string_view patterns) {
  std::string list(patterns);
  std::replace(list.begin(), list.end(), ',', ' ');
  std::istringstream words(list);
  bool matched = false;
  for (std::string word; words >> word;) {
    const bool negated = word.starts_with('!');
    if (!matchesPattern(name, negated ? std::string_view(word).substr(1) : word)) continue;
    if (negated) return false;
    matched = true;
  }
  return matched;
}

}  // namespace pop
