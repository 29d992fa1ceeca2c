// SPDX-License-Identifier: Apache-2.0
// Pages of claims name a test of each: tests that exist, and no claim without one that is not open.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

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

std::string withoutLinks(const std::string& text) {
  static const std::regex kTarget("\\]\\([^)]*\\)");
  return std::regex_replace(text, kTarget, "]");
}

// The rows of the tables whose last column is for tests.
std::vector<std::string> claimsOf(const std::string& page) {
  std::vector<std::string> claims;
  bool in_table = false;
  for (const std::string& line : split(page, '\n')) {
    if (!line.starts_with("| ")) {
      in_table = in_table && line.starts_with("|");
    } else if (line.ends_with(" | Test |")) {
      in_table = true;
    } else if (in_table) {
      claims.push_back(line);
    }
  }
  return claims;
}

void expectTested(const std::string& page, std::size_t at_least) {
  static const std::set<std::string> existing = existingTests();
  const std::vector<std::string> claims = claimsOf(fileText(POP_SOURCE_DIR "/docs/" + page));
  for (const std::string& claim : claims) {
    if (claim.find("| open |") != std::string::npos) continue;
    const std::set<std::string> named = namedIn(claim);
    EXPECT_FALSE(named.empty()) << "no test: " << claim;
    for (const std::string& name : named) EXPECT_TRUE(existing.contains(name)) << name;
  }
  EXPECT_GE(claims.size(), at_least);
}

TEST(SecurityPage, NamesTestsThatExist) {
  expectTested("dev/security_tests.md", 150);
}

// The promises of the page are the items of its lists, but for those of what it does not promise.
TEST(SecurityPage, MakesNoClaimWithoutARowOfTests) {
  const std::string rows = withoutLinks(fileText(POP_SOURCE_DIR "/docs/dev/security_tests.md"));
  bool promises = true;
  int claims = 0;
  for (const std::string& line : split(fileText(POP_SOURCE_DIR "/docs/reference/security.md"), '\n')) {
    promises = line.starts_with("## ") || (promises && !line.ends_with("does not promise:"));
    if (!promises || !line.starts_with("- ")) continue;
    ++claims;
    EXPECT_TRUE(rows.find("\n| " + withoutLinks(line.substr(2)) + " | `") != std::string::npos) << line;
  }
  EXPECT_GE(claims, 140);
}

TEST(TrainingRowsPage, NamesTestsThatExist) {
  expectTested("reference/training_rows.md", 155);
}

TEST(ClusterFailuresPage, NamesTestsThatExist) {
  expectTested("reference/cluster_failures.md", 29);
}

}  // namespace
}  // namespace pop::testing
