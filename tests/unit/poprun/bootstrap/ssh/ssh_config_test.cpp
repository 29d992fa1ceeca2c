// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/ssh_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>
#include <map>

#include "poprun/bootstrap/ssh/ssh_patterns.h"
#include "tests/testing/temp_dir.h"

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

SshHostConfig read(const std::string& host, const std::map<std::string, std::string>& files,
                   const std::string& user = "") {
  return readSshConfig(host, user, {"main"}, "/home/me", [&files](const std::string& path) {
    return files.contains(path) ? std::vector<std::string>{files.at(path)} : std::vector<std::string>{};
  });
}

SshHostConfig read(const std::string& host, const std::string& text) {
  return read(host, {{"main", text}});
}

TEST(SshConfig, PatternsMatchAsSshDoes) {
  EXPECT_TRUE(matchesSshPatterns("node12", "node*"));
  EXPECT_TRUE(matchesSshPatterns("node12", "other node??"));
  EXPECT_TRUE(matchesSshPatterns("node12", "other,node12"));
  EXPECT_FALSE(matchesSshPatterns("node12", "node?"));
  EXPECT_FALSE(matchesSshPatterns("node12", "node* !node12"));
  EXPECT_FALSE(matchesSshPatterns("node12", "!node13"));
}

TEST(SshConfig, OnlyBlocksOfTheHostCount) {
  const std::string text =
      "IdentityFile ~/.ssh/all\nHost a b*\n  IdentityFile=%d/.ssh/ab\nHost c\n IdentityFile /c\n";
  EXPECT_THAT(read("b1", text).identity_files, ElementsAre("/home/me/.ssh/all", "/home/me/.ssh/ab"));
  EXPECT_THAT(read("c", text).identity_files, ElementsAre("/home/me/.ssh/all", "/c"));
  EXPECT_THAT(read("d", text).identity_files, ElementsAre("/home/me/.ssh/all"));
}

TEST(SshConfig, TheFirstValueCounts) {
  const std::string text = "Host a\n StrictHostKeyChecking accept-new\nHost *\n StrictHostKeyChecking no\n";
  EXPECT_EQ(read("a", text).host_keys, HostKeyPolicy::kAcceptNew);
  EXPECT_EQ(read("b", text).host_keys, HostKeyPolicy::kOff);
  EXPECT_EQ(read("b", "StrictHostKeyChecking ask").host_keys, std::nullopt);
  EXPECT_EQ(read("a", "Host a\n ProxyJump none\nHost *\n ProxyJump gate\n").needs_program, "");
}

// Host is about the name as the user wrote it, Match host about what HostName has made of it.
TEST(SshConfig, WhereToDialComesFromAllBlocksOfTheHost) {
  const std::string text =
      "Host node1\n HostName 10.0.0.1\nHost node*\n User hpc\n Port 2222\n"
      "Host 10.*\n User nobody\n ProxyJump gate\n";
  const SshHostConfig config = read("node1", text);
  EXPECT_EQ(config.host_name, "10.0.0.1");
  EXPECT_EQ(config.user, "hpc");
  EXPECT_EQ(config.port, 2222);
  EXPECT_EQ(config.needs_program, "");
  EXPECT_EQ(read("node2", text).host_name, "");
  const std::string match = "Host h7\n HostName 10.0.0.7\nMatch host 10.0.0.*\n ProxyJump gate\n";
  EXPECT_EQ(read("h7", match).needs_program, "ProxyJump");
  EXPECT_EQ(read("h7", "HostName 10.0.0.7\nMatch originalhost h7\n Port 5\n").port, 5);
  EXPECT_EQ(read("h7", "User me\nMatch user me\n Port 5\n").port, 5);
  EXPECT_EQ(read("h7", "HostName %h.example\n").host_name, "h7.example");
  EXPECT_EQ(read("h7", "HostName %k.example\n").needs_program, "HostName %k.example");
  EXPECT_EQ(read("h7", "Port http\n").needs_program, "Port http");
}

TEST(SshConfig, KnownHostsAndAlgorithmsAreHandedOn) {
  const SshHostConfig config =
      read("a",
           "UserKnownHostsFile ~/known\nGlobalKnownHostsFile none\nCiphers +a,b\nCiphers c\n"
           "PubkeyAcceptedKeyTypes d\nPubkeyAcceptedAlgorithms e\n");
  EXPECT_EQ(config.known_hosts_file, "/home/me/known");
  EXPECT_EQ(config.global_known_hosts_file, "/dev/null");
  EXPECT_THAT(config.algorithms, ElementsAre(Pair("ciphers", "+a,b"), Pair("pubkeyacceptedalgorithms", "d")));
}

TEST(SshConfig, TheAgentIsNamedByPathOrVariableOrIsNone) {
  EXPECT_EQ(read("a", "").identity_agent, "$SSH_AUTH_SOCK");
  EXPECT_EQ(read("a", "IdentityAgent SSH_AUTH_SOCK").identity_agent, "$SSH_AUTH_SOCK");
  EXPECT_EQ(read("a", "IdentityAgent $OTHER\nIdentityAgent /second").identity_agent, "$OTHER");
  EXPECT_EQ(read("a", "IdentityAgent ~/.agent").identity_agent, "/home/me/.agent");
  EXPECT_EQ(read("a", "IdentityAgent none").identity_agent, "none");
  EXPECT_EQ(read("a", "IdentityAgent /run/%u/agent").needs_program, "IdentityAgent /run/%u/agent");
  EXPECT_EQ(read("a", "IdentityAgent ${HOME}/agent").needs_program, "IdentityAgent ${HOME}/agent");
}

TEST(SshConfig, WhatLibsshCannotDoIsForTheSshProgram) {
  EXPECT_EQ(read("a", "Host a\n  ProxyJump gate\n").needs_program, "ProxyJump");
  EXPECT_EQ(read("b", "Host a\n  ProxyJump gate\n").needs_program, "");
  EXPECT_EQ(read("a", "proxycommand nc %h %p").needs_program, "proxycommand");
  EXPECT_EQ(read("a", "ProxyCommand none\nAddressFamily any").needs_program, "");
  EXPECT_EQ(read("a", "CertificateFile ~/.ssh/cert").needs_program, "CertificateFile");
  EXPECT_EQ(read("a", "RevokedHostKeys /revoked").needs_program, "RevokedHostKeys");
  EXPECT_EQ(read("a", "BindAddress 10.0.0.9").needs_program, "BindAddress");
  EXPECT_EQ(read("a", "IdentityFile ~/.ssh/%h/key").needs_program, "IdentityFile ~/.ssh/%h/key");
  EXPECT_EQ(read("a", "UserKnownHostsFile /a/%h").needs_program, "UserKnownHostsFile /a/%h");
  EXPECT_EQ(read("a", "UserKnownHostsFile /a /b").needs_program, "UserKnownHostsFile with several files");
}

TEST(SshConfig, MatchIsJudgedWhereThatNeedsNoProgram) {
  EXPECT_EQ(read("a", "Match host a,b\n  ProxyJump gate\n").needs_program, "ProxyJump");
  EXPECT_EQ(read("c", "Match host a,b\n  ProxyJump gate\n").needs_program, "");
  EXPECT_EQ(read("c", "Match all\n  ProxyJump gate\n").needs_program, "ProxyJump");
  EXPECT_EQ(read("a", "Match exec \"test -f x\"\n").needs_program, "Match exec");
  EXPECT_EQ(read("c", "Match host a exec true\n").needs_program, "");
  EXPECT_EQ(read("a", {{"main", "Match user me\n ProxyJump gate\n"}}, "you").needs_program, "");
  EXPECT_EQ(read("a", {{"main", "Match user me\n ProxyJump gate\n"}}, "me").needs_program, "ProxyJump");
}

TEST(SshConfig, IncludedFilesAreReadInTheirPlace) {
  const std::map<std::string, std::string> files{
      {"main", "Host a\n Include sub\n IdentityFile /after\nHost *\n Include ~/other\n"},
      {"/home/me/.ssh/sub", "IdentityFile /sub\nHost b\n IdentityFile /b\n"},
      {"/home/me/other", "IdentitiesOnly yes\nInclude ~/other\n"}};
  EXPECT_THAT(read("a", files).identity_files, ElementsAre("/sub", "/after"));
  EXPECT_TRUE(read("a", files).identities_only);
  EXPECT_THAT(read("b", files).identity_files, IsEmpty());
}

TEST(SshConfig, RelativeIncludesAreThoseOfTheFilesOwnDirectory) {
  const std::map<std::string, std::string> files{{"/etc/ssh/ssh_config", "Include d/x\n"},
                                                 {"/etc/ssh/d/x", "Port 7\n"},
                                                 {"/home/me/.ssh/d/x", "Port 8\n"}};
  const auto reader = [&files](const std::string& path) {
    return files.contains(path) ? std::vector<std::string>{files.at(path)} : std::vector<std::string>{};
  };
  EXPECT_EQ(readSshConfig("a", "", {"/etc/ssh/ssh_config"}, "/home/me", reader).port, 7);
}

TEST(SshConfig, FilesThatOthersMayWriteToAreForTheSshProgram) {
  const testing::TempDir directory;
  const std::string named = directory.path() + "/config", included = directory.path() + "/more";
  std::ofstream(named) << "Include " << included << '\n';
  std::ofstream(included) << "Port 7\n";
  const auto mode_of_included = [&](mode_t mode) {
    ::chmod(included.c_str(), mode);
    return sshConfigOf("a", "", named);
  };
  ::chmod(named.c_str(), 0666);
  EXPECT_EQ(mode_of_included(0644).needs_program, "");
  EXPECT_EQ(mode_of_included(0600).port, 7);
  EXPECT_EQ(mode_of_included(0664).needs_program, included + ", which other users can write");
  EXPECT_EQ(mode_of_included(0646).needs_program, included + ", which other users can write");
}

TEST(SshConfig, CommentsQuotesAndNonsenseDoNoHarm) {
  const std::string text =
      "# ProxyJump gate\n\n  IdentityFile \"/with blank\"\r\nHost\nIdentityFile\nNonsense = 1 = 2\n";
  EXPECT_THAT(read("a", text).identity_files, ElementsAre("/with blank"));
  EXPECT_EQ(read("a", text).needs_program, "");
}

}  // namespace
}  // namespace pop
