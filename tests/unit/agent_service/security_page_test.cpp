// SPDX-License-Identifier: Apache-2.0
// docs/reference/security.md names a test of each claim: none that has gone, and no claim without one.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "common/base/text.h"
#include "tests/testing/named_tests.h"

namespace pop::testing {
namespace {

std::set<std::string> namedIn(const std::string& line) {
  static const std::regex kName("`([A-Z]\\w+\\.[A-Z]\\w+)`");
  std::set<std::string> names;
  for (std::sregex_iterator found(line.begin(), line.end(), kName); found != std::sregex_iterator();
       ++found) {
    names.insert(found->str(1));
  }
  return names;
}

bool isClaim(const std::string& line) {
  return line.starts_with("| ") && !line.starts_with("| Claim |") && !line.starts_with("| Stolen |");
}

TEST(SecurityPage, NamesTestsThatExist) {
  const std::set<std::string> existing = existingTests();
  int claims = 0;
  for (const std::string& line : split(fileText(POP_SOURCE_DIR "/docs/reference/security.md"), '\n')) {
    const std::set<std::string> named = namedIn(line);
    for (const std::string& name : named) EXPECT_TRUE(existing.contains(name)) << name;
    if (!isClaim(line)) continue;
    ++claims;
    EXPECT_FALSE(named.empty()) << "no test: " << line;
  }
  EXPECT_GT(claims, 20);
}

}  // namespace
}  // namespace pop::testing
