// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/ssh_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop {
namespace {

using ::testing::HasSubstr;

TEST(SshTarget, IsUserHostAndPortOfWhichOnlyTheHostMustBe) {
  EXPECT_EQ(parseSshTarget("h0").value(), (SshTarget{.host = "h0"}));
  EXPECT_EQ(parseSshTarget("me@h0").value(), (SshTarget{.user = "me", .host = "h0"}));
  EXPECT_EQ(parseSshTarget("me@h0.example:2222").value(),
            (SshTarget{.user = "me", .host = "h0.example", .port = 2222}));
  EXPECT_EQ(parseSshTarget("a@b@h0").value(), (SshTarget{.user = "a@b", .host = "h0"}));
}

TEST(SshTarget, AnIpv6AddressNeedsBracketsOnlyBeforeAPort) {
  EXPECT_EQ(parseSshTarget("fd00::1").value(), (SshTarget{.host = "fd00::1"}));
  EXPECT_EQ(parseSshTarget("[fd00::1]").value(), (SshTarget{.host = "fd00::1"}));
  EXPECT_EQ(parseSshTarget("me@[fe80::1%eth0]:22").value(),
            (SshTarget{.user = "me", .host = "fe80::1%eth0", .port = 22}));
}

TEST(SshTarget, WhatNamesNoHostOrPortIsSaid) {
  for (const char* wrong : {"", "me@", "@h0", "h0:", "h0:0", "h0:65536", "h0:x", "[fd00::1", "[fd00::1]22",
                            "-oProxy", "h0;reboot", "h 0", "-l@h0", "$(x)", "[]:22"}) {
    const Result<SshTarget> target = parseSshTarget(wrong);
    ASSERT_FALSE(target.ok()) << wrong;
    EXPECT_THAT(target.status().message(), HasSubstr(std::string("'") + wrong + "'"));
  }
}

}  // namespace
}  // namespace pop
