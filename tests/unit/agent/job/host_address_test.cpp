// SPDX-License-Identifier: Apache-2.0
// The one of this machine's real addresses that the other hosts are told.
#include "agent/job/host_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace pop::agent {
namespace {

class HostAddress : public ::testing::Test {
 protected:
  void SetUp() override {
    if (own_.empty()) GTEST_SKIP() << "this machine has no address but its loopback one";
  }

  const std::vector<std::string> own_ = ownAddresses();
};

TEST_F(HostAddress, IsTheOneFromWhichTheControllerIsReached) {
  for (const std::string& address : own_) EXPECT_EQ(hostAddress({.controller_at = address}).value(), address);
}

TEST_F(HostAddress, IsNoLoopbackAddressThoughTheControllerIsOnThisHost) {
  for (const char* const controller : {"127.0.0.1", "127.1.2.3", "::1", "", "no address"}) {
    EXPECT_EQ(hostAddress({.controller_at = controller}).value(), own_.front()) << controller;
  }
}

TEST_F(HostAddress, IsTheOneThatTheControllerHasReached) {
  EXPECT_EQ(hostAddress({.reached_at = own_.back(), .controller_at = own_.front()}).value(), own_.back());
}

TEST_F(HostAddress, IsTheOneThatSshdSays) {
  ::setenv("SSH_CONNECTION", ("fd00::1 50000 " + own_.back() + " 22").c_str(), 1);
  AddressHints hints;
  hints.takeSshConnection();
  EXPECT_EQ(hints.controller_at, "fd00::1");
  EXPECT_EQ(hints.reached_at, own_.back());
  for (const char* const nothing : {"", "10.1.0.1 50000", "10.1.0.1 50000 240.1.2.3 22"}) {
    ::setenv("SSH_CONNECTION", nothing, 1);
    AddressHints none;
    none.takeSshConnection();
    EXPECT_EQ(none.controller_at + none.reached_at, "") << nothing;
  }
  ::unsetenv("SSH_CONNECTION");
}

TEST_F(HostAddress, LiesInTheSubnetWhereverTheControllerIs) {
  EXPECT_EQ(hostAddress({.subnet = own_.back(), .controller_at = own_.front()}).value(), own_.back());
  const Result<std::string> none = hostAddress({.subnet = "240.0.0.0/8", .controller_at = own_.front()});
  EXPECT_EQ(none.code(), Code::kFailedPrecondition);
  EXPECT_THAT(none.status().message(), ::testing::HasSubstr("--host-subnet 240.0.0.0/8"));
}

TEST_F(HostAddress, IsThatOfTheInterface) {
  const Result<std::string> none = hostAddress({.subnet = "nowhere0,lo"});
  EXPECT_EQ(none.code(), Code::kFailedPrecondition);
  EXPECT_THAT(
      none.status().message(),
      ::testing::HasSubstr("is in --host-subnet nowhere0,lo (this host has " + own_.front() + " on "));
  // "… (this host has 10.1.0.1 on eth0, …)"
  const std::string after = none.status().message().substr(none.status().message().find(" on ") + 4);
  const std::string interface = after.substr(0, after.find_first_of(",)"));
  EXPECT_EQ(hostAddress({.subnet = interface, .controller_at = own_.back()}).value(), own_.front());
  EXPECT_EQ(hostAddress({.subnet = "nowhere0," + interface}).value(), own_.front());
}

}  // namespace
}  // namespace pop::agent
