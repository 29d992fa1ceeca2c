// SPDX-License-Identifier: Apache-2.0
// The server's identity and our own: both are checked, and an error says what to run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "common/sys/fd.h"
#include "poprun/bootstrap/ssh/known_hosts.h"
#include "tests/integration/ssh/bootstrap_fixture.h"
#include "tests/testing/file_text.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string commandOutput(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  for (int next = 0; (next = ::fgetc(pipe)) != EOF;) text += static_cast<char>(next);
  ::pclose(pipe);
  return text;
}

TEST(HostKey, AnUnknownOneIsRefusedWithItsFingerprintAndTheCommandThatAddsIt) {
  TestHosts hosts(1);
  writeEchoAgent(hosts.bin(0) + "/popdist-agent");
  const TempDir directory;
  const std::string known = directory.path() + "/known";
  Bootstrap refused(hosts, {"h0"}, {.known_hosts_file = known});
  refused.waitForAll();
  const std::string why = refused.whyFailed(0);
  std::istringstream fingerprint(commandOutput("ssh-keygen -lf " + hosts.home(0) + "/../host_key.pub"));
  std::string bits, hash;
  fingerprint >> bits >> hash;
  EXPECT_THAT(why, AllOf(HasSubstr("not in " + known), HasSubstr(hash)));
  EXPECT_EQ(refused.failed.at(0).code(), Code::kPermissionDenied);

  const std::size_t at = why.find("ssh-keyscan");
  ASSERT_NE(at, std::string::npos) << why;
  EXPECT_EQ(::system((why.substr(at) + " 2>/dev/null").c_str()), 0) << why.substr(at);
  Bootstrap accepted(hosts, {"h0"}, {.known_hosts_file = known});
  accepted.waitForAll();
  EXPECT_TRUE(accepted.reached.contains(0)) << accepted.problems();
}

TEST(HostKey, AChangedOneIsRefusedWithTheCommandsThatReplaceIt) {
  TestHosts hosts(2);
  writeEchoAgent(hosts.bin(0) + "/popdist-agent");
  const TempDir directory;
  const std::string known = directory.path() + "/known";
  std::string line = fileText(hosts.home(1) + "/../host_key.pub");
  std::ofstream(known) << hosts.address(0) << ' ' << line;
  Bootstrap refused(hosts, {"h0"}, {.known_hosts_file = known});
  refused.waitForAll();
  const std::string why = refused.whyFailed(0);
  EXPECT_THAT(why, AllOf(HasSubstr("not the one in " + known), HasSubstr("SHA256:")));
  const std::size_t at = why.find("ssh-keygen -R");
  ASSERT_NE(at, std::string::npos) << why;
  EXPECT_EQ(::system(('(' + why.substr(at) + ") >/dev/null 2>&1").c_str()), 0) << why.substr(at);
  Bootstrap accepted(hosts, {"h0"}, {.known_hosts_file = known});
  accepted.waitForAll();
  EXPECT_TRUE(accepted.reached.contains(0)) << accepted.problems();
}

TEST(HostKey, AcceptNewAddsUnknownOnesButRefusesChangedOnes) {
  TestHosts hosts(2);
  for (int host = 0; host < 2; ++host) writeEchoAgent(hosts.bin(host) + "/popdist-agent");
  const TempDir directory;
  const std::string known = directory.path() + "/known";
  std::ofstream(known) << hosts.address(1) << ' ' << fileText(hosts.home(0) + "/../host_key.pub");
  Bootstrap bootstrap(hosts, {"h0", "h1"},
                      {.known_hosts_file = known, .host_keys = HostKeyPolicy::kAcceptNew});
  bootstrap.waitForAll();
  EXPECT_TRUE(bootstrap.reached.contains(0)) << bootstrap.problems();
  EXPECT_THAT(bootstrap.whyFailed(1), HasSubstr("ssh-keygen -R"));
  Bootstrap strict(hosts, {"h0"}, {.known_hosts_file = known});
  strict.waitForAll();
  EXPECT_TRUE(strict.reached.contains(0)) << strict.problems();
}

class KnownHosts : public ::testing::Test {
 protected:
  KnownHosts() { writeEchoAgent(hosts_.bin(0) + "/popdist-agent"); }

  std::string keyOf(int host) const { return fileText(hosts_.home(host) + "/../host_key.pub"); }
  // The error for h0 where the user's known hosts have these lines: "" if it is reached.
  std::string outcomeOf(const std::string& lines, HostKeyPolicy policy = HostKeyPolicy::kStrict,
                        const std::string& config = "") {
    std::ofstream(known_) << lines;
    const std::string config_file = directory_.path() + "/config";
    std::ofstream(config_file) << fileText(hosts_.sshConfig()) << config;
    SshOptions options{.config_file = config_file, .known_hosts_file = known_};
    if (policy != HostKeyPolicy::kStrict) options.host_keys = policy;
    Bootstrap bootstrap(hosts_, {"h0"}, options);
    bootstrap.waitForAll();
    return bootstrap.reached.contains(0) ? "" : bootstrap.whyFailed(0);
  }

  TestHosts hosts_{2};
  const TempDir directory_;
  const std::string known_ = directory_.path() + "/known";
};

TEST_F(KnownHosts, ARevokedKeyIsRefusedWhateverElseIsSaidOfIt) {
  const std::string good = hosts_.address(0) + ' ' + keyOf(0);
  EXPECT_EQ(outcomeOf(good), "");
  for (const HostKeyPolicy policy : {HostKeyPolicy::kStrict, HostKeyPolicy::kAcceptNew, HostKeyPolicy::kOff})
    EXPECT_THAT(outcomeOf(good + "@revoked * " + keyOf(0), policy),
                HasSubstr("its host key is revoked in " + known_));
  EXPECT_EQ(outcomeOf(good + "@revoked * " + keyOf(1)), "") << "another one";
  EXPECT_EQ(outcomeOf(good + "@revoked h9 " + keyOf(0)), "") << "another host's";
}

// ssh compares Host with the name that the user wrote, and that is h0.
TEST_F(KnownHosts, AreAskedThoughABlockForTheAddressSaysNo) {
  EXPECT_THAT(outcomeOf(hosts_.address(0) + ' ' + keyOf(1), HostKeyPolicy::kStrict,
                        "\nHost " + hosts_.address(0) + "\n  StrictHostKeyChecking no\n"),
              HasSubstr("not the one in " + known_));
}

TEST_F(KnownHosts, ADamagedLineHidesNoOther) {
  const std::string damaged = hosts_.address(0) + " ssh-ed25519 AAAAC3Nz\n";
  EXPECT_EQ(outcomeOf(damaged + hosts_.address(0) + ' ' + keyOf(0)), "");
  EXPECT_THAT(outcomeOf(damaged + hosts_.address(0) + ' ' + keyOf(1), HostKeyPolicy::kAcceptNew),
              HasSubstr("not the one in " + known_));
}

TEST_F(KnownHosts, NameHostsAsSshReadsThem) {
  std::string tabbed = hosts_.address(0) + ' ' + keyOf(0);
  std::replace(tabbed.begin(), tabbed.end(), ' ', '\t');
  EXPECT_EQ(outcomeOf(tabbed), "");
  EXPECT_THAT(outcomeOf(tabbed + "@revoked\t*\t" + keyOf(0)), HasSubstr("is revoked"));
  EXPECT_THAT(outcomeOf("*,!" + hosts_.address(0) + ' ' + keyOf(0)), HasSubstr("its host key is not in "));
}

// The rule is ssh's: a line for that port counts first; one without a port can only make the key known, or
// revoked.
TEST(KnownHostsOfAPort, AreThoseOfTheHostWhereNothingIsKnownOfThePort) {
  TestHosts hosts({.count = 2, .sshd_options = {"Port 2200"}});
  writeEchoAgent(hosts.bin(0) + "/popdist-agent");
  const TempDir directory;
  const std::string known = directory.path() + "/known", key = fileText(hosts.home(0) + "/../host_key.pub");
  const std::string other = fileText(hosts.home(1) + "/../host_key.pub"), host = hosts.address(0) + ' ';
  const std::string port = '[' + hosts.address(0) + "]:2200 ";
  const auto outcome = [&](const std::string& lines, HostKeyPolicy policy = HostKeyPolicy::kStrict) {
    std::ofstream(known) << lines;
    Bootstrap bootstrap(hosts, {"h0:2200"}, {.known_hosts_file = known, .host_keys = policy});
    bootstrap.waitForAll();
    return bootstrap.reached.contains(0) ? "" : bootstrap.whyFailed(0);
  };
  EXPECT_EQ(outcome(host + key), "");
  EXPECT_EQ(outcome(port + key + host + other), "");
  EXPECT_EQ(outcome(host + "ssh-ed25519 AAAA\n" + host + key), "");
  EXPECT_THAT(outcome(port + other + host + key), HasSubstr("not the one in " + known));
  EXPECT_THAT(outcome(host + other), HasSubstr("its host key is not in " + known));
  EXPECT_THAT(outcome(host + key + "@revoked " + host + key), HasSubstr("is revoked"));
  EXPECT_THAT(outcome("@revoked " + host + key, HostKeyPolicy::kAcceptNew), HasSubstr("is revoked"));
  EXPECT_EQ(outcome(host + other, HostKeyPolicy::kAcceptNew), "");
  EXPECT_THAT(fileText(known), HasSubstr(port)) << "another server than the one at port 22";
}

// The server has keys of two types, and would show the other one.
TEST(KnownKeyTypes, AreAskedForFirstThoughALineIsDamaged) {
  TestHosts hosts({.count = 1, .sshd_options = {"HostKey /run/host/rsa_key"}});
  writeEchoAgent(hosts.bin(0) + "/popdist-agent");
  const std::string key = hosts.home(0) + "/../rsa_key";
  ASSERT_EQ(::system(("ssh-keygen -q -t rsa -b 2048 -N '' -f " + key).c_str()), 0);
  const TempDir directory;
  const std::string known = directory.path() + "/known";
  std::ofstream(known) << hosts.address(0) << " ssh-dss AAAAB3Nz\n"
                       << hosts.address(0) << ' ' << fileText(key + ".pub");
  Bootstrap bootstrap(hosts, {"h0"}, {.known_hosts_file = known});
  bootstrap.waitForAll();
  EXPECT_TRUE(bootstrap.reached.contains(0)) << bootstrap.problems();
}

// ssh and ssh-keyscan write names in lower case.
TEST(KnownNames, AreInLowerCase) {
  EXPECT_THAT(knownNames("Node1.Example", 22), ElementsAre("node1.example"));
  EXPECT_THAT(knownNames("FD00::A", 2200), ElementsAre("[fd00::a]:2200", "fd00::a"));
}

TEST_F(KnownHosts, KnowAHostWhoeverWritesItInCapitals) {
  std::string address = hosts_.address6(0);
  for (char& each : address) each = static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
  std::ofstream(known_) << hosts_.address6(0) << ' ' << keyOf(0);
  Bootstrap bootstrap(hosts_, {'[' + address + ']'}, {.known_hosts_file = known_});
  bootstrap.waitForAll();
  EXPECT_TRUE(bootstrap.reached.contains(0)) << bootstrap.problems();
}

TEST_F(KnownHosts, ThatCannotBeReadAreNamed) {
  Bootstrap bootstrap(hosts_, {"h0"}, {.known_hosts_file = directory_.path()});
  bootstrap.waitForAll();
  EXPECT_THAT(bootstrap.whyFailed(0), HasSubstr("reading " + directory_.path() + ": Is a directory"));
}

TEST(UserKey, WithoutAnAcceptedOneTheErrorSaysWhatWasTried) {
  TestHosts hosts(1);
  const TempDir directory;
  const std::string other = directory.path() + "/other", locked = directory.path() + "/locked";
  ASSERT_EQ(::system(("ssh-keygen -q -t ed25519 -N '' -f " + other).c_str()), 0);
  ASSERT_EQ(::system(("ssh-keygen -q -t ed25519 -N secret -f " + locked).c_str()), 0);
  ::unsetenv("SSH_AUTH_SOCK");
  Bootstrap bootstrap(hosts, {"h0", "nobody@h0"}, {.identity_files = {other, locked, "/nonexistent"}});
  bootstrap.waitForAll();
  EXPECT_THAT(bootstrap.whyFailed(0),
              AllOf(HasSubstr("no key is accepted for root@h0"), HasSubstr(other),
                    HasSubstr("ssh-add " + locked), HasSubstr("/nonexistent (cannot be read)"),
                    HasSubstr("SSH_AUTH_SOCK"), HasSubstr("ssh-copy-id")));
  EXPECT_THAT(bootstrap.whyFailed(1), HasSubstr("no key is accepted for nobody@h0"));
}

// Holds the hosts' key. `confirm`: uses it only if that program says so.
class SshAgent {
 public:
  SshAgent(const TestHosts& hosts, const std::string& socket, const std::string& confirm = "") {
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::setenv("SSH_ASKPASS", confirm.c_str(), 1);
      ::setenv("DISPLAY", ":0", 1);
      ::execlp("ssh-agent", "ssh-agent", "-D", "-a", socket.c_str(), nullptr);
      ::_exit(127);
    }
    const std::string add = "SSH_AUTH_SOCK=" + socket + " ssh-add -q " + (confirm.empty() ? "" : "-c ") +
                            hosts.identity() + " 2>/dev/null";
    EXPECT_TRUE(waitUntil([&] { return ::system(add.c_str()) == 0; }, Milliseconds(10000)));
  }
  ~SshAgent() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  SshAgent(const SshAgent&) = delete;
  SshAgent& operator=(const SshAgent&) = delete;

 private:
  pid_t pid_ = -1;
};

TEST(UserKey, ComesFromTheSshAgent) {
  TestHosts hosts(1);
  writeEchoAgent(hosts.bin(0) + "/popdist-agent");
  const TempDir directory;
  const std::string socket = directory.path() + "/agent";
  const SshAgent agent(hosts, socket);
  ::setenv("SSH_AUTH_SOCK", socket.c_str(), 1);
  Bootstrap bootstrap(hosts, {"h0"}, {.identity_files = {"/nonexistent"}});
  bootstrap.waitForAll();
  EXPECT_TRUE(bootstrap.reached.contains(0)) << bootstrap.problems();
  ::unsetenv("SSH_AUTH_SOCK");
}

TEST(UserKey, ComesFromTheAgentThatTheConfigurationNames) {
  TestHosts hosts(1);
  writeEchoAgent(hosts.bin(0) + "/popdist-agent");
  const TempDir directory;
  const std::string socket = directory.path() + "/agent";
  const SshAgent agent(hosts, socket);
  const auto reach = [&](const std::string& named, const std::string& usual) {
    const std::string config = directory.path() + "/config";
    std::ofstream(config) << "IdentityAgent " << named << "\nInclude " << hosts.sshConfig() << '\n';
    ::setenv("SSH_AUTH_SOCK", usual.c_str(), 1);
    Bootstrap bootstrap(hosts, {"h0"}, {.identity_files = {"/nonexistent"}, .config_file = config});
    bootstrap.waitForAll();
    ::unsetenv("SSH_AUTH_SOCK");
    return bootstrap.reached.contains(0) ? "reached" : bootstrap.whyFailed(0);
  };
  EXPECT_EQ(reach(socket, "/nobody/listens"), "reached");
  EXPECT_EQ(reach("SSH_AUTH_SOCK", socket), "reached");
  EXPECT_EQ(reach("$SSH_AUTH_SOCK", socket), "reached");
  EXPECT_THAT(reach("none", socket), HasSubstr("no ssh-agent (IdentityAgent is none)"));
  EXPECT_THAT(reach("/nobody/listens", socket),
              AllOf(HasSubstr("the ssh-agent at /nobody/listens"), HasSubstr(": IdentityAgent)")));
}

// An agent forwarded over a dead connection does not answer.
TEST(UserKey, OfAnSshAgentThatDoesNotAnswerIsNotWaitedFor) {
  TestHosts hosts(1);
  writeEchoAgent(hosts.bin(0) + "/popdist-agent");
  const TempDir directory;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  (directory.path() + "/agent").copy(address.sun_path, sizeof(address.sun_path) - 1);
  const sys::Fd silent(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(silent.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(silent.get(), 0), 0);
  ::setenv("SSH_AUTH_SOCK", address.sun_path, 1);
  for (const char* queue : {"empty", "full"}) {
    Bootstrap bootstrap(hosts, {"h0"}, {.identity_files = {"/nonexistent"}, .connect_timeout_ms = 4000});
    bootstrap.waitForAll();
    EXPECT_THAT(bootstrap.whyFailed(0), AllOf(HasSubstr("no key is accepted for root@h0"),
                                              HasSubstr("the ssh-agent at " + std::string(address.sun_path) +
                                                        " (it does not answer: SSH_AUTH_SOCK)")))
        << queue;
  }
  ::unsetenv("SSH_AUTH_SOCK");
}

// A key of ssh-add -c, without a user there who would confirm it.
class ConfirmedKey : public ::testing::Test {
 protected:
  ConfirmedKey() {
    writeEchoAgent(hosts.bin(0) + "/popdist-agent");
    writeScript(directory.path() + "/ask",
                "echo $$ > " + asked() + ".new; mv " + asked() + ".new " + asked() + "; exec sleep 60");
    agent_.emplace(hosts, directory.path() + "/agent", directory.path() + "/ask");
    ::setenv("SSH_AUTH_SOCK", (directory.path() + "/agent").c_str(), 1);
  }
  ~ConfirmedKey() override {
    ::unsetenv("SSH_AUTH_SOCK");
    if (!fileText(asked()).empty()) ::kill(std::stoi(fileText(asked())), SIGKILL);
  }

  std::string asked() const { return directory.path() + "/asked"; }

  TestHosts hosts{1};
  const TempDir directory;

 private:
  std::optional<SshAgent> agent_;
};

TEST_F(ConfirmedKey, IsWaitedForUntilTheTimeIsOver) {
  Bootstrap bootstrap(hosts, {"h0"}, {.identity_files = {"/nonexistent"}, .connect_timeout_ms = 10000});
  bootstrap.waitForAll();
  EXPECT_FALSE(fileText(asked()).empty());
  EXPECT_THAT(bootstrap.whyFailed(0),
              HasSubstr("waiting for ssh-agent to sign (does it ask for confirmation, as after ssh-add -c?): "
                        "no answer within 10 s (--connect-timeout)"));
}

TEST_F(ConfirmedKey, IsNotWaitedForOnceAllIsGivenUp) {
  {
    Bootstrap bootstrap(hosts, {"h0"}, {.identity_files = {"/nonexistent"}, .connect_timeout_ms = 600000});
    ASSERT_TRUE(waitUntil([&] { return !fileText(asked()).empty(); }, Milliseconds(10000)));
  }
  EXPECT_EQ(::kill(std::stoi(fileText(asked())), 0), 0);  // and asks still
}

}  // namespace
}  // namespace pop::testing
