// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/programs.h"

#include <gtest/gtest.h>

namespace pop {
namespace {

TEST(Programs, TheFirstThatHasAllIsTaken) {
  EXPECT_EQ(programFor({}), Program::kPoprun);
  EXPECT_EQ(programFor({.by_service = true}), Program::kPoprun) << "there are no other hosts";
  EXPECT_EQ(programFor({.other_hosts = true, .by_service = true}), Program::kService);
  EXPECT_EQ(programFor({.other_hosts = true}), Program::kHosts);
  EXPECT_EQ(programFor({.runner = true}), Program::kHosts);
  EXPECT_EQ(programFor({.runner = true, .other_hosts = true, .by_service = true}), Program::kHosts);
  EXPECT_EQ(programFor({.popdistd = true}), Program::kDaemon);
  EXPECT_EQ(programFor({.popdistd = true, .other_hosts = true, .by_service = true}), Program::kDaemon);
}

TEST(Programs, HaveFilesOfTheirOwn) {
  EXPECT_STREQ(nameOf(Program::kPoprun), "poprun");
  EXPECT_STREQ(nameOf(Program::kService), "poprun-service");
  EXPECT_STREQ(nameOf(Program::kHosts), "poprun-hosts");
  EXPECT_STREQ(nameOf(Program::kDaemon), "poprun-daemon");
}

}  // namespace
}  // namespace pop
