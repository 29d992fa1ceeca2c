// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

TEST(SshConfig, CommentsQuotesAndNonsenseDoNoHarm) {
  const std::string text =
      "# ProxyJump gate\n\n  IdentityFile \"/with blank\"\r\nHost\nIdentityFile\nNonsense = 1 = 2\n";
  EXPECT_THAT(read("a", text).identity_files, ElementsAre("/with blank"));
  EXPECT_EQ(read("a", text).needs_program, "");
}

}  // namespace
}  // namespace pop
