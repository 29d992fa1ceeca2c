// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/ssh_patterns.h"

#include <algorithm>
#include <sstream>
#include <string>

#include "common/base/text.h"

namespace pop {
bool matchesSshPatterns(std::string_view name, std::string_view patterns) {
  std::string list(patterns);
  std::replace(list.begin(), list.end(), ',', ' ');
  std::istringstream words(list);
  bool matched = false;
  for (std::string word; words >> word;) {
    const bool negated = word.starts_with('!');
    if (!matchesWildcards(name, negated ? std::string_view(word).substr(1) : word)) continue;
    if (negated) return false;
    matched = true;
  }
  return matched;
}

}  // namespace pop
