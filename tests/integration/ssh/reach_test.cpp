// SPDX-License-Identifier: Apache-2.0
// Hosts are reached over SSH, as the user's configuration says, and what cannot be reached says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "tests/integration/ssh/bootstrap_fixture.h"
#include "tests/testing/file_text.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string appended(const TestHosts& hosts, const std::string& path, const std::string& text) {
  std::ifstream old(hosts.sshConfig());
  std::ofstream(path) << text << old.rdbuf();
  return path;
}

TEST(ReachHosts, AllAtOnceAndEachStreamIsItsAgents) {
  TestHosts hosts(3);
  for (int host = 0; host < 3; ++host) writeEchoAgent(hosts.bin(host) + "/popdist-agent");
  Bootstrap bootstrap(hosts, {"h0", "h1", "h2"});
  bootstrap.waitForAll();
  ASSERT_EQ(bootstrap.reached.size(), 3U) << bootstrap.problems();
  for (int host = 0; host < 3; ++host) {
    const ReachedHost& reached = bootstrap.reached.at(host);
    EXPECT_EQ(echo(reached.stream.get(), "hello " + hosts.name(host)), "hello " + hosts.name(host));
    EXPECT_EQ(reached.peer_address, hosts.address(host));
    EXPECT_EQ(reached.local_address, hosts.ownAddress());
    bootstrap.runUntilTrue([&] { return !bootstrap.said[host].empty(); });
    EXPECT_THAT(bootstrap.said[host], ElementsAre("version 0.1.0 on " + hosts.name(host)));
    EXPECT_THAT(bootstrap.phases[host],
                ElementsAre("resolving", "connecting", "ssh key exchange", "checking the host key",
                            "authenticating", "starting the agent"));
  }
}

TEST(ReachHosts, OnesThatFailSaySoTogetherAndHoldNobodyUp) {
  TestHosts hosts(2);
  writeEchoAgent(hosts.bin(0) + "/popdist-agent");
  Bootstrap bootstrap(
      hosts, {hosts.unusedAddress(), "nosuch.invalid", "h0", "h1:2222", "h1:x", hosts.silentAddress()});
  bootstrap.runUntilTrue([&] { return bootstrap.reached.contains(2) && bootstrap.failed.size() == 4; });
  EXPECT_FALSE(bootstrap.failed.contains(5)) << "all others came first";
  EXPECT_THAT(bootstrap.whyFailed(0), HasSubstr("connecting to " + hosts.unusedAddress() + " port 22"));
  EXPECT_THAT(bootstrap.whyFailed(1),
              AllOf(HasSubstr("looking up its name 'nosuch.invalid'"), HasSubstr("known")));
  EXPECT_THAT(bootstrap.whyFailed(3), AllOf(HasSubstr("port 2222"), HasSubstr("refused")));
  EXPECT_THAT(bootstrap.whyFailed(4), HasSubstr("'x' is not a port"));
}

TEST(ReachHosts, AHostBehindACutLinkFailsAfterItsOwnTimeout) {
  TestHosts hosts(2);
  for (int host = 0; host < 2; ++host) writeEchoAgent(hosts.bin(host) + "/popdist-agent");
  Bootstrap warm(hosts,
                 {"h1"});  // its address is known from here on: no error of the neighbour's comes first
  warm.waitForAll();
  hosts.linkDown(1);
  Bootstrap bootstrap(hosts, {"h0", "h1"}, {.connect_timeout_ms = 6000});
  bootstrap.waitForAll();
  EXPECT_TRUE(bootstrap.reached.contains(0));
  EXPECT_THAT(bootstrap.whyFailed(1), AllOf(HasSubstr("connecting to " + hosts.address(1) + " port 22"),
                                            HasSubstr("within 6 s"), HasSubstr("--connect-timeout")));
}

TEST(ReachHosts, ANameServerThatDoesNotAnswerHoldsNobodyUp) {
  TestHosts hosts(2);
  writeEchoAgent(hosts.bin(1) + "/popdist-agent");
  const std::string silent = "nameserver " + hosts.unusedAddress();
  hosts.run(0, "umount /etc/nsswitch.conf; echo " + silent +
                   " >/tmp/resolv.conf; mount --bind /tmp/resolv.conf /etc/resolv.conf");
  const pid_t launcher = ::fork();
  ASSERT_GE(launcher, 0);
  if (launcher == 0) {
    hosts.enter(0);
    const auto begin = std::chrono::steady_clock::now();
    bool right = false;
    {
      Bootstrap bootstrap(hosts, {"far.example", "root@" + hosts.address(1)},
                          {.config_file = "/run/host/home/.ssh/config", .connect_timeout_ms = 5000});
      bootstrap.waitForAll();
      right = bootstrap.whyFailed(0).find("the name server gave no answer within 5 s") != std::string::npos &&
              bootstrap.reached.contains(1);
      if (!right) std::fprintf(stderr, "%s\n", bootstrap.problems().c_str());
    }
    const bool quick = std::chrono::steady_clock::now() - begin < std::chrono::seconds(20);
    ::_exit(right && quick ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(launcher, &status, 0), launcher);
  EXPECT_EQ(status, 0);
}

// h0 without sshd until that is said; as a node of a cloud that boots.
class HostThatComesUp : public ::testing::Test {
 protected:
  HostThatComesUp() {
    writeEchoAgent(hosts.bin(0) + "/popdist-agent");
    hosts.killSshd(0);
  }

  // The reason why it is not reached, if it comes up once `said` is in a message about it.
  std::string outcome(SshOptions options, const std::string& said) {
    options.connect_timeout_ms = options.waits_for_hosts ? 60000 : options.connect_timeout_ms;
    Bootstrap bootstrap(hosts, {"h0"}, options);
    const auto told = [&](const std::vector<std::string>& lines) {
      return std::any_of(lines.begin(), lines.end(),
                         [&](const std::string& line) { return line.find(said) != std::string::npos; });
    };
    bootstrap.runUntilTrue(
        [&] { return told(bootstrap.phases[0]) || told(bootstrap.said[0]) || bootstrap.failed.contains(0); });
    hosts.startSshd(0);
    bootstrap.waitForAll();
    return bootstrap.reached.contains(0) ? "" : bootstrap.whyFailed(0);
  }

  TestHosts hosts{1};
};

TEST_F(HostThatComesUp, IsWaitedForByThoseWhoSayHowLong) {
  EXPECT_EQ(outcome({.waits_for_hosts = true}, "Connection refused"), "");
}

TEST_F(HostThatComesUp, IsWaitedForByTheSshProgram) {
  EXPECT_EQ(outcome({.rsh = {"ssh", "-F", hosts.sshConfig()}, .waits_for_hosts = true}, "Connection refused"),
            "");
}

TEST_F(HostThatComesUp, IsTriedAgainAsOftenAsTheJobMayStartAgain) {
  EXPECT_EQ(outcome({.more_tries = 1000, .before_next_try = std::chrono::milliseconds(10)}, "(3 of 1000)"),
            "");
}

TEST_F(HostThatComesUp, IsNotWaitedForOtherwise) {
  EXPECT_THAT(outcome({}, "no such word"), HasSubstr("Connection refused"));
}

TEST(ReachHosts, AHostThatDoesNotComeUpIsTriedUntilTheTimeIsOver) {
  TestHosts hosts(1);
  Bootstrap bootstrap(hosts, {"h0:2222", "nosuch.invalid"},
                      {.connect_timeout_ms = 500, .waits_for_hosts = true});
  bootstrap.waitForAll();
  EXPECT_THAT(bootstrap.whyFailed(0), HasSubstr("Connection refused"));
  EXPECT_THAT(bootstrap.whyFailed(1), HasSubstr("looking up its name 'nosuch.invalid'"));
  EXPECT_THAT(bootstrap.phases[0], Contains(HasSubstr("Connection refused")));
}

// The name of a pod that is not ready is such a name.
TEST(ReachHosts, ANameThatIsNotKnownYetIsWaitedFor) {
  TestHosts hosts(2);
  writeEchoAgent(hosts.bin(0) + "/popdist-agent");
  const pid_t launcher = ::fork();
  ASSERT_GE(launcher, 0);
  if (launcher == 0) {
    hosts.enter(1);
    bool reached = false;
    {
      Bootstrap bootstrap(hosts, {"late"},
                          {.config_file = "/run/host/home/.ssh/config",
                           .host_keys = HostKeyPolicy::kOff,
                           .connect_timeout_ms = 60000,
                           .waits_for_hosts = true});
      bootstrap.runUntilTrue([&] { return bootstrap.phases[0].size() > 1 || bootstrap.failed.contains(0); });
      std::ofstream("/etc/hosts", std::ios::app) << hosts.address(0) << " late\n";
      bootstrap.waitForAll();
      reached = bootstrap.reached.contains(0);
      if (!reached) std::fprintf(stderr, "%s\n", bootstrap.problems().c_str());
    }
    ::_exit(reached ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(launcher, &status, 0), launcher);
  EXPECT_EQ(status, 0);
}

TEST(ReachHosts, AServerThatNeverGreetsIsNamedAfterTheTimeout) {
  TestHosts hosts(1);
  hosts.run(0, "exec 2>/dev/null; kill -STOP $(pgrep -o sshd)");
  Bootstrap bootstrap(hosts, {"h0"}, {.connect_timeout_ms = 2000});
  bootstrap.waitForAll();
  EXPECT_THAT(bootstrap.whyFailed(0), HasSubstr("greeting of its SSH server: no answer within 2 s"));
}

// A host whose sshd listens on another port as well, with an unknown key.
struct OtherPort {
  OtherPort() {
    EXPECT_TRUE(
        waitUntil([&] { return hosts.sshdLog(0).find("listening on :: port 2200") != std::string::npos; },
                  Milliseconds(10000)));
    writeEchoAgent(hosts.bin(0) + "/popdist-agent");
    options.known_hosts_file = directory.path() + "/known";
    options.host_keys = HostKeyPolicy::kAcceptNew;
  }

  TestHosts hosts{{.count = 1, .sshd_options = {"Port 2200"}}};
  const TempDir directory;
  SshOptions options;
};

TEST(ReachHosts, AliasPortAndUserComeFromTheConfiguration) {
  OtherPort there;
  const TestHosts& hosts = there.hosts;
  SshOptions& options = there.options;
  options.config_file =
      appended(hosts, there.directory.path() + "/config",
               "Host short\n  HostName " + hosts.address(0) + "\n  Port 2200\n  User root\n");
  Bootstrap bootstrap(
      hosts, {"short", hosts.address(0) + ":2200", "root@h0:2200", '[' + hosts.address6(0) + "]:2200"},
      options);
  bootstrap.waitForAll();
  EXPECT_THAT(bootstrap.failed, IsEmpty()) << bootstrap.problems();
  EXPECT_EQ(bootstrap.reached.at(3).peer_address, hosts.address6(0));
}

// "Host *" behind it, as ssh_config(5) has it: its values count for all names, replaced or not.
TEST(ReachHosts, AGeneralBlockBehindASpecialOneCounts) {
  OtherPort there;
  const TestHosts& hosts = there.hosts;
  SshOptions& options = there.options;
  options.config_file = appended(hosts, there.directory.path() + "/config",
                                 "Host short\n  HostName " + hosts.address(0) +
                                     "\nHost sho*\n  Port 2200\nMatch originalhost short\n  User root\n");
  Bootstrap bootstrap(hosts, {"short"}, options);
  bootstrap.waitForAll();
  EXPECT_THAT(bootstrap.failed, IsEmpty()) << bootstrap.problems();
  EXPECT_THAT(fileText(options.known_hosts_file), StartsWith('[' + hosts.address(0) + "]:2200 "));
}

TEST(ReachHosts, AConfigurationThatIsNotThereIsSaid) {
  TestHosts hosts(1);
  Bootstrap bootstrap(hosts, {"h0"}, {.config_file = "/nonexistent"});
  bootstrap.waitForAll();
  EXPECT_THAT(bootstrap.whyFailed(0), HasSubstr("/nonexistent: No such file"));
}

TEST(ReachHosts, ThroughAnotherHostByTheSshProgram) {
  TestHosts hosts(2);
  writeEchoAgent(hosts.bin(1) + "/popdist-agent");
  const TempDir directory;
  const std::string config = directory.path() + "/config";
  appended(hosts, config, "Host behind\n  HostName " + hosts.address(1) + "\n  ProxyJump h0\n");
  Bootstrap by_config(hosts, {"behind"}, {.config_file = config});
  by_config.waitForAll();
  ASSERT_TRUE(by_config.reached.contains(0)) << by_config.problems();
  EXPECT_EQ(echo(by_config.reached.at(0).stream.get(), "through"), "through");
  EXPECT_THAT(hosts.sshdLog(0), HasSubstr("Accepted"));

  SshOptions options{.rsh = {"ssh", "-J", "h0"}};
  Bootstrap by_option(hosts, {"h1", "nosuch.invalid"}, options);
  by_option.waitForAll();
  ASSERT_TRUE(by_option.reached.contains(0)) << by_option.problems();
  EXPECT_EQ(echo(by_option.reached.at(0).stream.get(), "jumped"), "jumped");
  EXPECT_THAT(by_option.whyFailed(1), HasSubstr("while running ssh"));
}

TEST(ReachHosts, ByAProgramThatHangsIsGivenUp) {
  TestHosts hosts(1);
  const std::string program = hosts.bin(0) + "/hang";
  writeScript(program, "sleep 1000; :");
  SshOptions options{.rsh = {program}};
  options.connect_timeout_ms = 200;
  options.start_timeout_ms = 1000;
  Bootstrap bootstrap(hosts, {"h0"}, options);
  bootstrap.waitForAll();
  EXPECT_EQ(bootstrap.whyFailed(0), "while running " + program +
                                        ": while starting the agent: no answer within 1.2 s "
                                        "(--connect-timeout, and 1 s for the agent's start)");
}

TEST(ReachHosts, AnSshdThatDropsBurstsIsTriedAgain) {
  TestHosts hosts({.count = 1, .sshd_options = {"MaxStartups 2:100:2"}});
  writeEchoAgent(hosts.bin(0) + "/popdist-agent");
  Bootstrap bootstrap(hosts, std::vector<std::string>(12, "h0"), {.connect_timeout_ms = 20000});
  bootstrap.waitForAll();
  EXPECT_EQ(bootstrap.reached.size(), 12U) << bootstrap.problems();
  EXPECT_THAT(hosts.sshdLog(0), HasSubstr("past MaxStartups"));
}

// The largest number of hosts that were between the beginning of their key exchange and the end of their
// authentication at the same time.
int mostAtATime(const std::vector<std::pair<int, std::string>>& phases) {
  int now = 0;
  int most = 0;
  for (const auto& [host, phase] : phases) {
    if (phase == "ssh key exchange") most = std::max(most, ++now);
    if (phase == "starting the agent") --now;
  }
  return most;
}

TEST(ReachHosts, NoMoreThanAllowedExchangeKeysAtATime) {
  TestHosts hosts(6);
  std::vector<std::string> names;
  for (int host = 0; host < hosts.count(); ++host) {
    writeEchoAgent(hosts.bin(host) + "/popdist-agent");
    names.push_back(hosts.name(host));
  }
  for (const int allowed : {1, 2}) {
    Bootstrap bootstrap(hosts, names, {.max_parallel = allowed});
    bootstrap.waitForAll();
    EXPECT_EQ(bootstrap.reached.size(), names.size()) << bootstrap.problems();
    EXPECT_LE(mostAtATime(bootstrap.all_phases), allowed);
    EXPECT_GE(mostAtATime(bootstrap.all_phases), 1);
  }
}

}  // namespace
}  // namespace pop::testing
