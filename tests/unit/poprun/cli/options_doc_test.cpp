// SPDX-License-Identifier: Apache-2.0
// Files made from the option table agree with it.
#include "poprun/cli/options_doc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "poprun/cli/option_table.h"
#include "tests/testing/file_text.h"
#include "tests/testing/golden.h"

namespace pop::cli {
namespace {

constexpr const char* kHowTo = "run scripts/gen_options_doc";

std::string treeFile(const std::string& path) {
  return testing::fileText(std::string(POP_SOURCE_DIR "/") + path);
}

TEST(OptionsDoc, FilesOfTheTreeAreAsTheTableIs) {
  EXPECT_EQ(helpText(), testing::golden("help.txt")) << kHowTo;
  EXPECT_EQ(referencePage(), treeFile("docs/reference/poprun.md")) << kHowTo;
  EXPECT_EQ(manPage(), treeFile("docs/man/poprun.1")) << kHowTo;
  EXPECT_EQ(bashCompletion(), treeFile("completions/poprun.bash")) << kHowTo;
  EXPECT_EQ(zshCompletion(), treeFile("completions/poprun.zsh")) << kHowTo;
  EXPECT_EQ(fishCompletion(), treeFile("completions/poprun.fish")) << kHowTo;
}

TEST(OptionsDoc, EveryNameOfEveryOptionIsInAllOfThem) {
  for (const OptionRow& row : optionTable()) {
    for (const std::string& name : namesOf(row)) {
      EXPECT_THAT(helpText(), ::testing::HasSubstr(name));
      EXPECT_THAT(referencePage(), ::testing::HasSubstr('`' + name + '`'));
      EXPECT_THAT(bashCompletion(), ::testing::HasSubstr(name));
    }
  }
}

TEST(HelpText, LeavesNamesOfFilesAsTheyAre) {
  EXPECT_THAT(helpText(), ::testing::HasSubstr(" ca.pem, and user-NAME.pem"));
  EXPECT_THAT(helpText(), ::testing::HasSubstr(" popdist-agent on every host"));
  EXPECT_THAT(referencePage(), ::testing::HasSubstr("Values: `none`, `all`, or the number of an instance"));
}

TEST(HelpText, FitsATerminal) {
  std::istringstream lines(helpText());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 102U) << line;
}

}  // namespace
}  // namespace pop::cli
