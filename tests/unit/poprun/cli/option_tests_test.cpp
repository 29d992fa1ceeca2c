// SPDX-License-Identifier: Apache-2.0
// docs/dev/option_tests.md names a test of what each option does: for every row of the table, and none that
// has gone.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/text.h"
#include "poprun/cli/option_table.h"
#include "tests/testing/named_tests.h"

namespace pop::cli {
namespace {

using testing::existingTests;
using testing::fileText;

// The words in backquotes of each row: the option, then its tests.
std::map<std::string, std::vector<std::string>> documentedTests() {
  std::map<std::string, std::vector<std::string>> tests;
  for (const std::string& line : split(fileText(POP_SOURCE_DIR "/docs/dev/option_tests.md"), '\n')) {
    if (!line.starts_with("| `")) continue;
    const std::vector<std::string> parts = split(line, '`');
    for (std::size_t i = 3; i < parts.size(); i += 2) tests[parts[1]].push_back(parts[i]);
  }
  return tests;
}

TEST(OptionTests, OfEveryOptionAreNamed) {
  std::map<std::string, std::vector<std::string>> documented = documentedTests();
  for (const OptionRow& row : optionTable()) {
    EXPECT_EQ(documented.erase(std::string(row.name)), 1U) << row.name << " has no test in the page";
  }
  for (const auto& [option, tests] : documented) ADD_FAILURE() << option << " is no option";
}

TEST(OptionTests, ThatAreNamedExist) {
  const std::set<std::string> existing = existingTests();
  for (const auto& [option, tests] : documentedTests()) {
    for (const std::string& test : tests) EXPECT_TRUE(existing.contains(test)) << option << ": " << test;
  }
}

}  // namespace
}  // namespace pop::cli
