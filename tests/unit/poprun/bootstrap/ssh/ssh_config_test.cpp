// SPDX-License-Identifier: Apache-2.0
// poprun's reading of what `ssh -G` prints: what libssh is told, and which hosts are for the ssh program.
#include "poprun/bootstrap/ssh/ssh_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>
#include <map>

#include "tests/testing/temp_dir.h"

namespace pop {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class SshConfig : public ::testing::Test {
 protected:
  // poprun's reading of a configuration file that contains `text`.
  Result<SshHostConfig> outcome(const std::string& text, const std::string& host = "a",
                                const std::string& user = "", int port = 0) const {
    std::ofstream(file_) << text;
    const Cancellation cancellation;
    const Wait wait(cancellation, std::chrono::seconds(20));
    return sshConfigOf({.user = user, .host = host, .port = port}, {.config_file = file_}, wait);
  }
  SshHostConfig read(const std::string& text, const std::string& host = "a", const std::string& user = "",
                     int port = 0) const {
    const Result<SshHostConfig> config = outcome(text, host, user, port);
    EXPECT_TRUE(config.ok()) << config.status().message();
    return config.ok() ? config.value() : SshHostConfig{};
  }
  std::string needs(const std::string& text) const { return read(text).needs_program; }

  const testing::TempDir directory_;
  const std::string file_ = directory_.path() + "/config";
};

TEST_F(SshConfig, ACommentEndsALine) {
  const std::string text =
      "Host alpha # also node1\n  Port 9\nHost node1\n  HostName 127.0.0.1 # here\n  Port 2200\n";
  EXPECT_EQ(read(text, "node1").port, 2200);
  EXPECT_EQ(read(text, "node1").host_name, "127.0.0.1");
  EXPECT_EQ(read(text, "alpha").port, 9);
}

TEST_F(SshConfig, QuotesAndBackslashesKeepBlanks) {
  for (const char* written : {"'/with blank/key'", "\"/with blank/key\"", "/with\\ blank/key"})
    EXPECT_THAT(read(std::string("IdentityFile ") + written).identity_files, ElementsAre("/with blank/key"));
}

TEST_F(SshConfig, SaysWhereToGoAndAsWhom) {
  const std::string text =
      "Host alpha\n  HostName 10.0.0.7\n  Port=2222\nHost alp* !alpine\n\tUser me\nHost *\n  Port 2223\n"
      "Host alp*,*\n  Compression yes\n";
  const SshHostConfig alpha = read(text, "alpha");
  EXPECT_EQ(alpha.host_name, "10.0.0.7");
  EXPECT_EQ(alpha.port, 2222);
  EXPECT_EQ(alpha.user, "me");
  EXPECT_EQ(alpha.needs_program, "");
  EXPECT_THAT(alpha.algorithms, Contains(Pair("compression", "no"))) << "a comma separates no names";
  EXPECT_EQ(read(text, "beta").port, 2223);
  EXPECT_EQ(read(text, "beta", "you", 7).port, 7);
  EXPECT_EQ(read(text, "beta", "you", 7).user, "you");
  EXPECT_EQ(read("Match user you\n  Port 5\n", "a", "you").port, 5);
  EXPECT_EQ(read("Match exec true\n  Port 5\n").port, 5);
  EXPECT_EQ(read("HostName %h.Example\n", "fd00::1").needs_program, "");
}

TEST_F(SshConfig, NamesKeysAndWhoHoldsThem) {
  const SshHostConfig config =
      read("IdentityFile ~/.ssh/mine\nIdentityFile /b\nIdentitiesOnly yes\nIdentityAgent /sock\n");
  EXPECT_THAT(config.identity_files, ElementsAre(sshHome() + "/.ssh/mine", "/b"));
  EXPECT_TRUE(config.identities_only);
  EXPECT_EQ(config.identity_agent, "/sock");
  EXPECT_THAT(read("").identity_files, IsEmpty());
  EXPECT_EQ(read("").identity_agent, "$SSH_AUTH_SOCK");
  EXPECT_EQ(read("IdentityAgent $OTHER_SOCK\n").identity_agent, "$OTHER_SOCK");
  EXPECT_EQ(read("IdentityAgent none\n").identity_agent, "none");
  EXPECT_THAT(read("IdentityFile none\n").identity_files, IsEmpty());
  EXPECT_THAT(read("HostbasedAuthentication yes\nGSSAPIAuthentication yes\n").logins,
              ElementsAre("gssapi", "hostbased"));
  EXPECT_TRUE(read("ControlPath /run/%C\n").shares_connections);
}

TEST_F(SshConfig, SaysWhichFilesKnowTheHost) {
  const SshHostConfig usual = read("");
  EXPECT_THAT(usual.known_hosts,
              ElementsAre(sshHome() + "/.ssh/known_hosts", sshHome() + "/.ssh/known_hosts2"));
  EXPECT_THAT(usual.system_known_hosts, ElementsAre("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"));
  EXPECT_EQ(usual.host_keys, HostKeyPolicy::kStrict);
  const SshHostConfig other =
      read("UserKnownHostsFile /mine\nGlobalKnownHostsFile none\nStrictHostKeyChecking accept-new\n");
  EXPECT_THAT(other.known_hosts, ElementsAre("/mine"));
  EXPECT_THAT(other.system_known_hosts, ElementsAre("/dev/null"));
  EXPECT_EQ(other.host_keys, HostKeyPolicy::kAcceptNew);
  EXPECT_EQ(read("StrictHostKeyChecking no\n").host_keys, HostKeyPolicy::kOff);
  EXPECT_EQ(read("StrictHostKeyChecking yes\n").host_keys, HostKeyPolicy::kStrict);
}

TEST_F(SshConfig, AlgorithmsAreToldToLibssh) {
  EXPECT_THAT(read("Ciphers aes256-ctr\n").algorithms, Contains(Pair("ciphers", "aes256-ctr")));
  EXPECT_THAT(read("HostKeyAlgorithms +ssh-rsa\n").algorithms,
              Contains(Pair("hostkeyalgorithms", HasSubstr("rsa-sha2-256,ssh-rsa"))));
}

TEST_F(SshConfig, WhatLibsshCannotDoIsForTheSshProgram) {
  const std::map<std::string, std::string> settings{
      {"ProxyJump gate", "proxyjump"},
      {"ProxyCommand nc %h %p", "proxycommand"},
      {"CertificateFile /cert", "certificatefile"},
      {"RevokedHostKeys /revoked", "revokedhostkeys"},
      {"BindAddress 10.0.0.9", "bindaddress"},
      {"HostKeyAlias other", "hostkeyalias"},
      {"AddressFamily inet", "addressfamily"},
      {"CheckHostIP yes", "checkhostip"},
      {"KnownHostsCommand /bin/true", "knownhostscommand"},
      {"PubkeyAuthentication no", "pubkeyauthentication"},
      {"PreferredAuthentications hostbased", "preferredauthentications hostbased"},
      {"IdentityFile /keys/%h", "identityfile /keys/%h"},
      {"IdentityFile ~root/key", "identityfile ~root/key"},
      {"UserKnownHostsFile /a /b", "userknownhostsfile /a /b"},
      {"UserKnownHostsFile \"/a b\"", "userknownhostsfile /a b"},
      {"HostName b@c", "hostname b@c"}};
  for (const auto& [setting, named] : settings) EXPECT_EQ(needs(setting), named);
}

TEST_F(SshConfig, SettingsOfLoginsAreNotForUs) {
  for (const char* setting :
       {"RemoteCommand tmux", "SessionType none", "StdinNull yes", "ForkAfterAuthentication yes",
        "RequestTTY force", "LocalForward 1234 localhost:99", "DynamicForward 1080", "Tunnel yes",
        "PermitLocalCommand yes\nLocalCommand true", "ControlMaster auto\nControlPersist yes",
        "PreferredAuthentications publickey,password", "ProxyJump none", "AddressFamily any", "SendEnv X",
        "ServerAliveInterval 5", "LogLevel DEBUG"})
    EXPECT_EQ(needs(setting), "") << setting;
}

// A setting of a newer ssh: what ssh says by itself is as libssh does it, anything else is not.
TEST_F(SshConfig, AnUnknownSettingIsComparedWithWhatSshSaysByItself) {
  const std::set<std::string> defaults{"novelty off"};
  const auto ask = [&]() -> const std::set<std::string>& { return defaults; };
  const std::string usual = "hostname a\nuserknownhostsfile /k\nglobalknownhostsfile /g\n";
  EXPECT_EQ(sshConfigFrom(usual + "novelty off\n", "/home/me", ask).needs_program, "");
  EXPECT_EQ(sshConfigFrom(usual + "novelty on\n", "/home/me", ask).needs_program, "novelty");
  EXPECT_NE(sshConfigFrom("", "/home/me", ask).needs_program, "");
}

TEST_F(SshConfig, WhatSshRefusesIsRefusedInItsWords) {
  const std::string included = directory_.path() + "/more";
  std::ofstream(included) << "Port 7\n";
  EXPECT_EQ(read("Include " + included + "\n").port, 7);
  ::chmod(included.c_str(), 0666);
  EXPECT_THAT(outcome("Include " + included + "\n").status().message(),
              AllOf(HasSubstr("ssh -G"), HasSubstr("Bad owner or permissions on " + included)));
  for (const char* wrong : {"Nonsense 1", "Port x", "IdentityFile", "HostName %x"}) {
    const Result<SshHostConfig> refused = outcome(std::string(wrong) + '\n');
    EXPECT_EQ(refused.code(), Code::kFailedPrecondition) << wrong;
    EXPECT_EQ(refused.status().message().find('\n'), std::string::npos);
  }
  EXPECT_EQ(read("IgnoreUnknown Non*\nNonsense 1\nPort 7\n").port, 7);
}

TEST_F(SshConfig, IsNotWaitedForOnceAllIsGivenUp) {
  std::ofstream(file_) << "Match exec \"sleep 60\"\n  Port 7\n";
  Cancellation cancellation;
  const Wait wait(cancellation, std::chrono::seconds(60));
  cancellation.cancel();
  EXPECT_EQ(sshConfigOf({.host = "a"}, {.config_file = file_}, wait).code(), Code::kCancelled);
  const Cancellation other;
  const Wait short_wait(other, std::chrono::milliseconds(100));
  EXPECT_EQ(sshConfigOf({.host = "a"}, {.config_file = file_}, short_wait).code(), Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace pop
