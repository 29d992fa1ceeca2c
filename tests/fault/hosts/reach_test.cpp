// SPDX-License-Identifier: Apache-2.0
// Hosts that cannot be reached: each is named, with its reason, and nothing is left on the others.
#include "tests/fault/hosts/faults_fixture.h"

namespace pop::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class UnreachedHosts : public HostFaults {
 protected:
  // Others may still be on their way, too, when poprun says this.
  static void expectWaitedFor(const PoprunProcess& poprun, const std::string& host_and_phase) {
    EXPECT_THAT(linesOf(poprun.err()),
                Contains(MatchesRegex("poprun: waiting for [1-9] of 4 hosts \\((.*, )?" + host_and_phase +
                                      "(, .*)?\\)")));
  }

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
  PoprunProcess poprun(with(hosts.silentAddress(), {"-n", "4", "--connect-timeout", "6"}));
  EXPECT_EQ(endAfter(Clock::now(), poprun), 125);
  EXPECT_EQ(said(poprun), "poprun: the job cannot be placed on host " + hosts.silentAddress() +
                              ": connecting to " + hosts.silentAddress() +
                              " port 22: no answer within 6 s (--connect-timeout)\n");
  expectWaitedFor(poprun, hosts.silentAddress() + ": connecting");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(UnreachedHosts, OneWhoseServerSaysNoMoreThanItsGreeting) {
  const std::string mute = R"('import os, socket
server = socket.create_server(("", 2222))
if os.fork(): os._exit(0)
os.closerange(0, 3)
clients = []
while True:
    clients.append(server.accept()[0])
    clients[-1].sendall(b"SSH-2.0-mute\r\n")')";
  std::ofstream(hosts.sshConfig(), std::ios::app)
      << "Host mute\n  HostName " << hosts.address(2) << "\n  Port 2222\n";
  ASSERT_EQ(hosts.run(2, "exec /usr/bin/python3 -c " + mute).exit_code, 0);
  PoprunProcess poprun(with("mute", {"-n", "4", "--connect-timeout", "6"}));
  EXPECT_EQ(endAfter(Clock::now(), poprun), 125);
  EXPECT_EQ(said(poprun),
            "poprun: the job cannot be placed on host mute: while exchanging SSH keys: no answer within 6 s "
            "(--connect-timeout)\n");
  expectWaitedFor(poprun, "mute: ssh key exchange");
  send(SIGKILL, named(2, "python3"));
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
      with("nosuch.invalid," + hosts.silentAddress(), {"-n", "5", "--connect-timeout", "6"}));
  EXPECT_EQ(endAfter(Clock::now(), poprun), 125);
  const std::string silent = hosts.silentAddress();
  EXPECT_EQ(said(poprun), "poprun: the job cannot be placed on host h2: connecting to " + hosts.address(2) +
                              " port 22: Connection refused\n  host nosuch.invalid: looking up its name "
                              "'nosuch.invalid': Name or "
                              "service not known; check its spelling, /etc/hosts, or give it a HostName in "
                              "~/.ssh/config\n  host " +
                              silent + ": connecting to " + silent +
                              " port 22: no answer within 6 s (--connect-timeout)\n");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(UnreachedHosts, OneThatComesUpWhileTheJobMayStartAgain) {
  hosts.killSshd(2);
  PoprunProcess poprun(waitingJob({"--max-restarts", "60"}));
  ASSERT_TRUE(
      poprun.waitFor([&] { return poprun.err().find("trying again (1 of 60)") != std::string::npos; }));
  EXPECT_THAT(poprun.err(), HasSubstr("poprun: h2: connecting to " + hosts.address(2) +
                                      " port 22: Connection refused; trying again (1 of 60)"));
  hosts.startSshd(2);
  EXPECT_EQ(poprun.waitReady(3).size(), 3U) << poprun.err();
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
  EXPECT_EQ(leftOnHosts(), "");
}

// The server takes connections and does not speak; the agents of the others serve already.
TEST_F(UnreachedHosts, AreReachedAfterCtrlZThoughItTookLongerThanTheirTime) {
  ASSERT_EQ(hosts.run(1, "pkill -STOP -x sshd").exit_code, 0);
  PoprunProcess poprun(waitingJob({"--connect-timeout", "10", "--host-silence", kShortSilence}));
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.err().find("h1: connecting") != std::string::npos; }));
  const auto isStopped = [&] { return statOf(poprun.pid()).value_or(ProcessStat{}).state == 'T'; };
  poprun.signal(SIGTSTP);
  ASSERT_TRUE(waitUntil(isStopped, kTimeout));
  EXPECT_FALSE(waitUntil([&] { return !isStopped(); }, Milliseconds(10500))) << "longer than they have";
  poprun.signal(SIGCONT);
  ASSERT_EQ(hosts.run(1, "pkill -CONT -x sshd").exit_code, 0);
  EXPECT_EQ(poprun.waitReady(3).size(), 3U) << poprun.err();
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
  EXPECT_EQ(said(poprun), "");
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(UnreachedHosts, CtrlCWhileConnectingEndsAtOnce) {
  PoprunProcess poprun(with(hosts.silentAddress(), {"-n", "4", "--connect-timeout", "60"}));
  ASSERT_TRUE(waitUntil([&] { return !agents(0).empty(); }, kTimeout));
  const auto cause = Clock::now();
  poprun.signal(SIGINT);
  EXPECT_EQ(endAfter(cause, poprun), 130);
  EXPECT_EQ(said(poprun), "");
  EXPECT_EQ(leftOnHosts(), "");  // an agent that heard nothing yet: its keeper ends it
}

}  // namespace
}  // namespace pop::testing
