// SPDX-License-Identifier: Apache-2.0
// Tests by their names, for pages that say which test shows something.
#pragma once

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "tests/testing/file_text.h"

namespace pop::testing {

/// "Suite.Case" of every test of the tree.
inline std::set<std::string> existingTests() {
  static const std::regex kTest(R"(\bTEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  std::set<std::string> tests;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(POP_SOURCE_DIR "/tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = fileText(entry.path());
    for (std::sregex_iterator found(text.begin(), text.end(), kTest); found != std::sregex_iterator();
         ++found) {
      tests.insert(found->str(1) + '.' + found->str(2));
    }
  }
  return tests;
}

}  // namespace pop::testing
