// SPDX-License-Identifier: Apache-2.0
// Headers that the leader believes, and those that it does not.
#include "popdistd/net/header_check.h"

#include <gtest/gtest.h>

#include "popdistd/net/client_header.h"
#include "tests/unit/popdistd/net/samples.h"

namespace pop::popdistd {
namespace {

const End kFollower{"10.0.0.9", 40000};

TEST(HeaderCheck, BelievesEachHeaderOnce) {
  HeaderCheck check(kKey);
  HeaderWriter writer(kKey, 1);
  const std::string first = writer.next(kClient);
  const std::string second = writer.next(kClient);
  EXPECT_EQ(check.clientIn(second, kFollower).value(), kClient);
  EXPECT_EQ(check.clientIn(first, kFollower).value(), kClient) << "connections overtake each other";
  EXPECT_EQ(check.clientIn(first, kFollower).code(), Code::kPermissionDenied);
  EXPECT_EQ(check.clientIn(second, kFollower).code(), Code::kPermissionDenied);
  HeaderWriter other(kKey, 2);
  EXPECT_TRUE(check.clientIn(other.next(kClient), kFollower).ok()) << "another passer has its own numbers";
}

TEST(HeaderCheck, RefusesThoseThatItCannotRememberAnyMore) {
  HeaderCheck check(kKey);
  HeaderWriter writer(kKey, 1);
  const std::string used = writer.next(kClient);
  const std::string unused = writer.next(kClient);
  EXPECT_TRUE(check.clientIn(used, kFollower).ok());
  for (std::size_t i = 0; i < HeaderCheck::kWindow; ++i)
    EXPECT_TRUE(check.clientIn(writer.next(kClient), kFollower).ok());
  EXPECT_EQ(check.clientIn(used, kFollower).code(), Code::kPermissionDenied);
  EXPECT_EQ(check.clientIn(unused, kFollower).code(), Code::kPermissionDenied);
}

TEST(HeaderCheck, RefusesThoseOfAnotherLead) {
  HeaderWriter writer(std::string(32, 'x'), 1);
  EXPECT_EQ(HeaderCheck(kKey).clientIn(writer.next(kClient), kFollower).code(), Code::kPermissionDenied);
}

// Also one that is sealed with no key, which any client can make.
TEST(HeaderCheck, WithoutAKeyRefusesEveryHeader) {
  HeaderWriter writer("", 1);
  EXPECT_EQ(HeaderCheck().clientIn(writer.next(kClient), kFollower).code(), Code::kPermissionDenied);
}

TEST(HeaderCheck, WarnsOnceAMinuteHoweverManyAreRefused) {
  HeaderCheck check(kKey);
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 100; ++i)
    EXPECT_FALSE(check.clientIn(std::string(kClientHeaderBytes, '\r'), kFollower).ok());
  const std::string log = ::testing::internal::GetCapturedStderr();
  const std::size_t first = log.find("a connection from 10.0.0.9");
  EXPECT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("a connection from", first + 1), std::string::npos) << log;
}

}  // namespace
}  // namespace pop::popdistd
