// SPDX-License-Identifier: Apache-2.0
// docs/option_tests.md names a test of what each option does: for every row of the table, and none that has
// gone.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "common/base/text.h"
#include "poprun/cli/option_table.h"

namespace pop::cli {
namespace {

std::string textOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "Suite.Case" of every test of the tree.
std::set<std::string> existingTests() {
  static const std::regex kTest(R"(\bTEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  std::set<std::string> tests;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(POP_SOURCE_DIR "/tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = textOf(entry.path());
    for (std::sregex_iterator found(text.begin(), text.end(), kTest); found != std::sregex_iterator();
         ++found) {
      tests.insert(found->str(1) + '.' + found->str(2));
    }
  }
  return tests;
}

// The words in backquotes of each row: the option, then its tests.
std::map<std::string, std::vector<std::string>> documentedTests() {
  std::map<std::string, std::vector<std::string>> tests;
  for (const std::string& line : split(textOf(POP_SOURCE_DIR "/docs/option_tests.md"), '\n')) {
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
