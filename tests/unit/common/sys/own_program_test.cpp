// SPDX-License-Identifier: Apache-2.0
#include "common/sys/own_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/testing/temp_dir.h"

namespace pop::sys {
namespace {

TEST(OwnProgram, IsBesideThisOneUnlessInstalled) {
  EXPECT_THAT(ownProgram("popdist-topology"), ::testing::EndsWith("/tests/popdist-topology"));
}

TEST(OwnProgram, IsFoundFromBinAndFromLibexecOnceInstalled) {
  const pop::testing::TempDir prefix;
  const std::string bin = prefix.path() + "/bin/", libexec = prefix.path() + "/libexec/poprun/";
  for (const std::string& program : {bin + "poprun", libexec + "poprun-hosts"}) {
    std::filesystem::create_directories(program.substr(0, program.rfind('/')));
    std::ofstream(program).close();
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  for (const std::string& self : {bin + "popdist-agent", libexec + "popdist-agent-service"}) {
    EXPECT_EQ(programOf(self, "poprun"), bin + "poprun");
    EXPECT_EQ(programOf(self, "poprun-hosts"), libexec + "poprun-hosts");
    EXPECT_EQ(programOf(self, "missing"), self.substr(0, self.rfind('/')) + "/missing");
  }
}

}  // namespace
}  // namespace pop::sys
