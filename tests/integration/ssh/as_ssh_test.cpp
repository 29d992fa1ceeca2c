// SPDX-License-Identifier: Apache-2.0
// A user who can log in with ssh can start agents: the installed ssh reads its configuration, and does itself
// what libssh cannot do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/integration/ssh/bootstrap_fixture.h"
#include "tests/testing/file_text.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class AsSsh : public ::testing::Test {
 protected:
  explicit AsSsh(const TestHostsSetup& setup = {.count = 1}) : hosts_(setup) {
    writeEchoAgent(hosts_.bin(0) + "/popdist-agent");
    ::unsetenv("SSH_AUTH_SOCK");
  }

  // The way to `name` with these lines before those of the fixture: "libssh" or "ssh", whichever reaches it
  // and carries its stream, or why it is not reached.
  std::string outcome(const std::string& lines, const std::string& name = "h0", SshOptions options = {}) {
    options.config_file = directory_.path() + "/config";
    std::ofstream(options.config_file) << lines << base_;
    Bootstrap bootstrap(hosts_, {name}, options);
    bootstrap.waitForAll();
    if (!bootstrap.reached.contains(0)) return bootstrap.whyFailed(0);
    EXPECT_EQ(echo(bootstrap.reached.at(0).stream.get(), "hello"), "hello") << lines;
    const std::vector<std::string>& phases = bootstrap.phases[0];
    return std::find(phases.begin(), phases.end(), "connecting by ssh") == phases.end() ? "libssh" : "ssh";
  }

  // h0 without a key.
  std::string withoutKey() const {
    return "Host h0\n  HostName " + hosts_.address(0) + "\n  User root\n  UserKnownHostsFile " +
           hosts_.knownHosts() + "\n  IdentitiesOnly yes\n";
  }

  TestHosts hosts_;
  std::string base_ = fileText(hosts_.sshConfig());
  const TempDir directory_;
};

TEST_F(AsSsh, ACommentIsNotAName) {
  EXPECT_EQ(outcome("Host alpha # also h0\n  Port 9\n  HostName 127.0.0.2\n"), "libssh");
}

TEST_F(AsSsh, AQuotedNameOfAKeyIsThatName) {
  const std::string key = directory_.path() + "/with blank";
  std::ofstream(key) << fileText(hosts_.identity());
  ::chmod(key.c_str(), 0600);
  base_.clear();
  for (const std::string& written : {'\'' + key + '\'', '"' + key + '"', directory_.path() + "/with\\ blank"})
    EXPECT_EQ(outcome(withoutKey() + "  IdentityFile " + written + '\n'), "libssh") << written;
}

TEST_F(AsSsh, AlgorithmsThatAreAddedChangeNothing) {
  for (const char* setting :
       {"HostKeyAlgorithms +ssh-rsa", "PubkeyAcceptedAlgorithms +ssh-rsa", "PubkeyAcceptedKeyTypes +ssh-rsa",
        "Ciphers ^aes256-ctr", "KexAlgorithms -ecdh*", "MACs hmac-sha2-256", "Compression yes"})
    EXPECT_EQ(outcome(std::string(setting) + '\n'), "libssh") << setting;
}

TEST_F(AsSsh, AlgorithmsThatLibsshLacksAreForTheSshProgram) {
  EXPECT_EQ(outcome("KexAlgorithms sntrup761x25519-sha512@openssh.com\n"), "ssh");
  EXPECT_EQ(outcome("MACs umac-128-etm@openssh.com\nCiphers aes128-ctr\n"), "ssh");
}

class AServerOfNewAlgorithms : public AsSsh {
 protected:
  AServerOfNewAlgorithms()
      : AsSsh({.count = 1, .sshd_options = {"KexAlgorithms sntrup761x25519-sha512@openssh.com"}}) {}
};

TEST_F(AServerOfNewAlgorithms, IsReachedByTheSshProgram) {
  EXPECT_EQ(outcome(""), "ssh");
}

constexpr const char* kLogins =
    "RemoteCommand tmux\nRequestTTY force\nStdinNull yes\nForkAfterAuthentication yes\nSessionType none\n"
    "LocalForward 127.0.0.1:1 localhost:99\nRemoteForward 1 localhost:99\nDynamicForward 1\n"
    "ExitOnForwardFailure yes\nPermitLocalCommand yes\nLocalCommand touch \"%d/../local\"\n"
    "ControlMaster yes\nControlPersist 60\nTunnel yes\n";

TEST_F(AsSsh, SettingsOfLoginsAreNotThoseOfAgents) {
  const std::string master = "ControlPath " + directory_.path() + "/master\n";
  EXPECT_EQ(outcome(kLogins + master), "libssh");
  EXPECT_EQ(outcome(kLogins + master + "AddressFamily inet\n"), "ssh");
  EXPECT_EQ(outcome(kLogins + master, "h0", {.rsh = {"ssh", "-F", directory_.path() + "/config"}}), "ssh");
  EXPECT_NE(::access((directory_.path() + "/master").c_str(), F_OK), 0) << "nothing is left behind";
}

TEST_F(AsSsh, AConnectionThatAnotherSshHoldsOpenIsUsedWhereNoKeyIs) {
  const std::string socket = directory_.path() + "/master";
  const std::string ssh = "ssh -F " + hosts_.sshConfig() + " -S " + socket;
  ASSERT_EQ(::system((ssh + " -MNf h0 2>/dev/null").c_str()), 0);
  base_.clear();
  const std::string no_key = withoutKey() + "  IdentityFile /nonexistent\n";
  EXPECT_THAT(outcome(no_key), AllOf(HasSubstr("no key is accepted for root@h0"), Not(HasSubstr("--rsh"))));
  EXPECT_EQ(outcome("ControlPath " + socket + '\n' + no_key), "ssh");
  ASSERT_EQ(::system((ssh + " -O exit h0 2>/dev/null").c_str()), 0);
  EXPECT_THAT(outcome("ControlPath " + socket + '\n' + no_key),
              AllOf(HasSubstr("no key is accepted for root@h0"), HasSubstr("Permission denied")));
}

TEST_F(AsSsh, AnAuthorityOfHostsIsForTheSshProgram) {
  const std::string authority = directory_.path() + "/authority", host = hosts_.home(0) + "/../host_key";
  ASSERT_EQ(::system(("ssh-keygen -q -t ed25519 -N '' -f " + authority).c_str()), 0);
  const std::string known = directory_.path() + "/known";
  std::ofstream(known) << "@cert-authority * " << fileText(authority + ".pub") << hosts_.address(0) << ' '
                       << fileText(host + ".pub");
  EXPECT_EQ(outcome("", "h0", {.known_hosts_file = known}), "ssh");
}

TEST_F(AsSsh, WhatSshRefusesIsRefused) {
  EXPECT_THAT(outcome("Nonsense 1\n"), AllOf(HasSubstr("reading its SSH configuration"),
                                             HasSubstr("Bad configuration option: nonsense")));
}

// Host-based: h1 vouches for its users, and h0 believes it.
class HostBased : public AsSsh {
 protected:
  HostBased()
      : AsSsh({.count = 2,
               .sshd_options = {"HostbasedAuthentication yes", "HostbasedUsesNameFromPacketOnly yes",
                                "IgnoreRhosts no", "PubkeyAuthentication no"}}) {
    writeEchoAgent(hosts_.bin(1) + "/popdist-agent");
    std::ofstream(hosts_.home(0) + "/.shosts") << "h1 root\n";
    ::chmod((hosts_.home(0) + "/.shosts").c_str(), 0600);
  }

  // 0: poprun on h1 reaches h0 with those lines.
  int reachedWith(const std::string& lines, const std::string& expected) {
    const std::string etc = hosts_.home(1) + "/../etc_ssh";
    std::filesystem::copy("/etc/ssh", etc, std::filesystem::copy_options::recursive);
    std::filesystem::copy_file(hosts_.home(1) + "/../host_key", etc + "/ssh_host_ed25519_key",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::copy_file(hosts_.home(1) + "/../host_key.pub", etc + "/ssh_host_ed25519_key.pub",
                               std::filesystem::copy_options::overwrite_existing);
    ::chmod((etc + "/ssh_host_ed25519_key").c_str(), 0600);
    std::ofstream(etc + "/ssh_config") << "EnableSSHKeysign yes\n" << lines;
    EXPECT_EQ(hosts_.run(1, "mount --bind /run/host/etc_ssh /etc/ssh").exit_code, 0);
    const pid_t launcher = ::fork();
    if (launcher == 0) {
      hosts_.enter(1);
      std::string why = "reached";
      {
        os::EpollLoop loop;
        Bootstrap bootstrap(hosts_, {hosts_.address(0)}, {.config_file = "/etc/ssh/ssh_config"});
        bootstrap.waitForAll();
        if (!bootstrap.reached.contains(0)) why = bootstrap.whyFailed(0);
      }
      if (why.find(expected) == std::string::npos) std::fprintf(stderr, "%s\n", why.c_str());
      ::_exit(why.find(expected) == std::string::npos ? 1 : 0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(launcher, &status, 0), launcher);
    return status;
  }
};

TEST_F(HostBased, LoginsAreMadeByTheSshProgramWhereTheConfigurationAsksForThem) {
  EXPECT_EQ(reachedWith("HostbasedAuthentication yes\n", "reached"), 0);
}

TEST_F(HostBased, LoginsAreNamedWhereItDoesNot) {
  EXPECT_EQ(reachedWith("", "--rsh ssh"), 0);
}

}  // namespace
}  // namespace pop::testing
