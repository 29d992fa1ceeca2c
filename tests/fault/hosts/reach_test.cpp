// SPDX-License-Identifier: Apache-2.0
// Hosts that cannot be reached: each is named, with its reason, and nothing is left on the others.
#include "tests/fault/hosts/faults_fixture.h"

namespace pop::testing {
namespace {

class UnreachedHosts : public HostFaults {
 protected:
  // Our hosts, and `others`.
  PoprunSetup with(const std::string& others, std::vector<std::string> options = {}) const {
    PoprunSetup setup = job({});
    setup.options.back() += ',' + others;
    setup.options.insert(setup.options.end(), options.begin(), options.end());
    setup.child = {"wait"};
    return setup;
  }
};

TEST_F(UnreachedHosts, OneThatNobodyAnswersAt) {
  PoprunProcess poprun(with(hosts.silentAddress(), {"-n", "4", "--connect-timeout", "4"}));
  EXPECT_EQ(endAfter(Clock::now(), poprun), 125);
  EXPECT_EQ(said(poprun), "poprun: the job cannot be placed on host " + hosts.silentAddress() +
                              ": connecting to " + hosts.silentAddress() +
                              " port 22: no answer within 4 s (--connect-timeout)\n");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(UnreachedHosts, OneThatTheNetworkHasNoWayTo) {
  PoprunProcess poprun(with(hosts.unusedAddress(), {"-n", "4"}));
  EXPECT_EQ(endAfter(Clock::now(), poprun), 125);
  EXPECT_EQ(said(poprun), "poprun: the job cannot be placed on host " + hosts.unusedAddress() +
                              ": connecting to " + hosts.unusedAddress() + " port 22: No route to host\n");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(UnreachedHosts, OneWhoseNameIsUnknown) {
  PoprunProcess poprun(with("nosuch.invalid", {"-n", "4"}));
  EXPECT_EQ(endAfter(Clock::now(), poprun), 125);
  EXPECT_EQ(
      said(poprun),
      "poprun: the job cannot be placed on host nosuch.invalid: looking up its name 'nosuch.invalid': Name "
      "or service not known; check its spelling, /etc/hosts, or give it a HostName in ~/.ssh/config\n");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(UnreachedHosts, SeveralAreAllNamedAtOnce) {
  hosts.killSshd(2);
  PoprunProcess poprun(
      with("nosuch.invalid," + hosts.silentAddress(), {"-n", "5", "--connect-timeout", "4"}));
  EXPECT_EQ(endAfter(Clock::now(), poprun), 125);
  const std::string silent = hosts.silentAddress();
  EXPECT_EQ(
      said(poprun),
      "poprun: the job cannot be placed on host h2: connecting to " + hosts.address(2) +
          " port 22: Connection refused; host nosuch.invalid: looking up its name 'nosuch.invalid': Name or "
          "service not known; check its spelling, /etc/hosts, or give it a HostName in ~/.ssh/config; host " +
          silent + ": connecting to " + silent + " port 22: no answer within 4 s (--connect-timeout)\n");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(UnreachedHosts, CtrlCWhileConnectingEndsAtOnce) {
  PoprunProcess poprun(with(hosts.silentAddress(), {"-n", "4", "--connect-timeout", "60"}));
  ASSERT_TRUE(waitUntil([&] { return !agents(0).empty(); }, kPatience));
  const auto cause = Clock::now();
  poprun.signal(SIGINT);
  EXPECT_EQ(endAfter(cause, poprun), 130);
  EXPECT_EQ(said(poprun), "");
  EXPECT_EQ(leftOnHosts(), "");  // an agent that heard nothing yet: its keeper ends it
}

}  // namespace
}  // namespace pop::testing
