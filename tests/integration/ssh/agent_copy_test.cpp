// SPDX-License-Identifier: Apache-2.0
// The agent on the far side: the installed one of our version, else a copy that is made once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/integration/ssh/bootstrap_fixture.h"
#include "tests/testing/file_text.h"

namespace pop::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kCopying = "copying the agent";

class AgentCopy : public ::testing::Test {
 protected:
  AgentCopy() : hosts(2) {
    writeEchoAgent(agent.local_file);
    // So large that it needs many packets; the shell has left before it reads this.
    std::ofstream(agent.local_file, std::ios::app) << '\n' << std::string(3 << 20, '#') << '\n';
  }

  std::vector<std::string> filesIn(int host, const std::string& below) const {
    std::vector<std::string> names;
    std::error_code missing;
    for (const auto& each : fs::directory_iterator(hosts.home(host) + below, missing)) {
      names.push_back(each.path().filename());
    }
    return names;
  }

  std::string failureOn(int host) {
    Bootstrap bootstrap(hosts, {hosts.name(host)}, {}, agent);
    bootstrap.waitForAll();
    return bootstrap.whyFailed(0);
  }

  TestHosts hosts;
  TempDir directory;
  AgentProgram agent{.version = "0.1.0", .local_file = directory.path() + "/agent"};
};

TEST_F(AgentCopy, IsMadeOnceAndUsedAgain) {
  Bootstrap first(hosts, {"h0", "h1"}, {}, agent);
  first.waitForAll();
  ASSERT_EQ(first.reached.size(), 2U) << first.problems();
  EXPECT_THAT(first.phases[0], Contains(kCopying));
  EXPECT_EQ(echo(first.reached.at(0).stream.get(), "hello"), "hello");
  EXPECT_THAT(filesIn(0, "/.cache/poprun"), ElementsAre(StartsWith("popdist-agent-")));
  const fs::path copy = hosts.home(0) + "/.cache/poprun/" + filesIn(0, "/.cache/poprun").at(0);
  EXPECT_EQ(fs::status(copy).permissions(), fs::perms::owner_all);

  Bootstrap second(hosts, {"h0"}, {}, agent);
  second.waitForAll();
  ASSERT_TRUE(second.reached.contains(0)) << second.problems();
  EXPECT_THAT(second.phases[0], Not(Contains(kCopying)));
  EXPECT_EQ(echo(second.reached.at(0).stream.get(), "again"), "again");

  std::ofstream(agent.local_file, std::ios::app) << "# another build\n";
  Bootstrap third(hosts, {"h0"}, {}, agent);
  third.waitForAll();
  EXPECT_THAT(third.phases[0], Contains(kCopying)) << third.problems();
}

// A crash, a full disk or an editor may leave such a file.
TEST_F(AgentCopy, ThatIsNotTheAgentAnyMoreIsMadeAgain) {
  Bootstrap first(hosts, {"h0"}, {}, agent);
  first.waitForAll();
  ASSERT_TRUE(first.reached.contains(0)) << first.problems();
  // The copy cannot be written until its exec is over.
  EXPECT_EQ(echo(first.reached.at(0).stream.get(), "hello"), "hello");
  const std::string copy = hosts.home(0) + "/.cache/poprun/" + filesIn(0, "/.cache/poprun").at(0);
  const std::string right = fileText(copy);
  ASSERT_TRUE(right == fileText(agent.local_file));
  std::string changed = right;
  changed.back() = '#';  // as long as the right one, and runs as well
  for (const std::string& wrong : {std::string(), right.substr(0, right.size() - 1), changed}) {
    ASSERT_TRUE(std::ofstream(copy) << wrong);
    Bootstrap again(hosts, {"h0"}, {}, agent);
    again.waitForAll();
    ASSERT_TRUE(again.reached.contains(0)) << again.problems();
    EXPECT_THAT(again.phases[0], Contains(kCopying)) << wrong.size() << " bytes";
    EXPECT_EQ(echo(again.reached.at(0).stream.get(), "hello"), "hello");
    EXPECT_TRUE(fileText(copy) == right);
  }
}

TEST_F(AgentCopy, ThatIsNotWhatWasSentIsNoAgent) {
  writeScript(hosts.bin(0) + "/head", "/usr/bin/head \"$@\" | tr '#' '+'");
  EXPECT_THAT(failureOn(0),
              AllOf(HasSubstr(".cache/poprun/.popdist-agent."), HasSubstr("differs from the original")));
  EXPECT_THAT(filesIn(0, "/.cache/poprun"), IsEmpty());
}

TEST_F(AgentCopy, ANewOneRemovesThoseThatNobodyHasStartedForThreeMonths) {
  ASSERT_EQ(hosts
                .run(0,
                     "d=~root/.cache/poprun; mkdir -p $d; cd $d; touch popdist-agent-new notes; "
                     "touch -d -91days popdist-agent-old; touch -d -2days .popdist-agent.half; "
                     "touch .popdist-agent.now; touch -d -91days others; "
                     "touch -m -d -91days popdist-agent-used")
                .exit_code,
            0);
  const auto isThere = [this](const std::string& name) {
    return fs::exists(hosts.home(0) + "/.cache/poprun/" + name);
  };
  Bootstrap bootstrap(hosts, {"h0"}, {}, agent);
  bootstrap.waitForAll();
  ASSERT_TRUE(bootstrap.reached.contains(0)) << bootstrap.problems();
  EXPECT_EQ(echo(bootstrap.reached.at(0).stream.get(), "hello"), "hello");
  EXPECT_FALSE(isThere("popdist-agent-old"));
  EXPECT_FALSE(isThere(".popdist-agent.half"));
  for (const char* kept :
       {"popdist-agent-new", "popdist-agent-used", ".popdist-agent.now", "notes", "others"})
    EXPECT_TRUE(isThere(kept)) << kept;
  EXPECT_EQ(filesIn(0, "/.cache/poprun").size(), 6U);
}

TEST_F(AgentCopy, ManyAtATimeDoNotHarmEachOther) {
  Bootstrap bootstrap(hosts, std::vector<std::string>(8, "h0"), {}, agent);
  bootstrap.waitForAll();
  EXPECT_EQ(bootstrap.reached.size(), 8U) << bootstrap.problems();
  EXPECT_EQ(filesIn(0, "/.cache/poprun").size(), 1U);
}

TEST_F(AgentCopy, AnInstalledAgentOfOurVersionNeedsNone) {
  writeEchoAgent(hosts.bin(0) + "/popdist-agent");
  writeEchoAgent(hosts.bin(1) + "/popdist-agent", "0.0.9");
  Bootstrap bootstrap(hosts, {"h0", "h1"}, {}, agent);
  bootstrap.waitForAll();
  EXPECT_EQ(bootstrap.reached.size(), 2U) << bootstrap.problems();
  EXPECT_THAT(bootstrap.phases[0], Not(Contains(kCopying)));
  EXPECT_THAT(bootstrap.phases[1], Contains(kCopying));
  bootstrap.runUntilTrue([&] { return !bootstrap.said[1].empty(); });
  EXPECT_THAT(bootstrap.said[1], ElementsAre("version 0.1.0 on h1"));
}

TEST_F(AgentCopy, OneThatIsWhereOursIsNeedsNone) {
  agent.local_file = "/opt/pop run/popdist-agent";
  for (int host = 0; host < 2; ++host) {
    writeEchoAgent(hosts.tmp(host) + "/agent");
    hosts.run(host,
              "mount -t tmpfs tmpfs /opt; mkdir '/opt/pop run'; cp /tmp/agent '/opt/pop run/popdist-agent'");
  }
  hosts.run(1, "chown 4711 '/opt/pop run/popdist-agent'");
  Bootstrap bootstrap(hosts, {"h0", "h1"}, {}, agent);
  bootstrap.waitForAll();
  ASSERT_TRUE(bootstrap.reached.contains(0)) << bootstrap.problems();
  EXPECT_THAT(bootstrap.phases[0], Not(Contains(kCopying)));
  EXPECT_EQ(echo(bootstrap.reached.at(0).stream.get(), "hello"), "hello");
  EXPECT_FALSE(bootstrap.reached.contains(1)) << "another user's";
  hosts.run(1, "chown root '/opt/pop run/popdist-agent'; chmod 777 '/opt/pop run'");
  EXPECT_NE(failureOn(1), "it did not") << "everybody's";
  hosts.run(1, "chmod 755 '/opt/pop run'");
  EXPECT_EQ(failureOn(1), "it did not");
}

// Others could put another file there between the look and the start: the copy is started, and nothing there.
TEST_F(AgentCopy, OneThatOtherUsersCouldExchangeIsNotEvenAskedForItsVersion) {
  constexpr const char* kFile = "/opt/a/b/popdist-agent";
  const std::vector<std::string> open{
      "chmod 777 /opt/a",
      "chmod 775 /opt/a/b",
      "chmod 757 /opt/a/b; chgrp nogroup /opt/a/b",
      "chown nobody /opt/a",
      "chmod 1777 /opt; chown nobody /opt/a/b",
      "chmod 722 /opt/a/b/popdist-agent",
      "chmod 1733 /opt/a/b/popdist-agent",
      "chown nobody /opt/a/b/popdist-agent",
      "mkdir /opt/c; mv /opt/a /opt/c; chmod 777 /opt/c; ln -s c/a /opt/a",
      "mkdir -m 777 /opt/c; mv /opt/a/b/popdist-agent /opt/c; ln -s /opt/c/popdist-agent /opt/a/b"};
  const std::string ran = hosts.tmp(0) + "/ran";
  writeScript(hosts.tmp(0) + "/agent", "touch /tmp/ran\n" + fileText(agent.local_file));
  const auto outcome = [&](const std::string& how, const std::string& setting) {
    hosts.run(0, "umount /opt; mount -t tmpfs -o mode=755 tmpfs /opt; mkdir -p /opt/a/b; cp /tmp/agent " +
                     std::string(kFile) + "; rm -f /tmp/ran; " + how + "; rm -f /usr/local/bin/*; " +
                     setting);
    Bootstrap bootstrap(hosts, {"h0"}, {}, agent);
    bootstrap.waitForAll();
    EXPECT_TRUE(bootstrap.reached.contains(0)) << how << ": " << bootstrap.problems();
    return fs::exists(ran) ? "there" : "the copy";
  };
  const std::string in_path = "ln -s " + std::string(kFile) + " /usr/local/bin/popdist-agent";
  EXPECT_EQ(outcome("true", in_path), "there");
  EXPECT_EQ(outcome("chmod 1777 /opt", in_path), "there") << "nobody but root can replace /opt/a";
  for (const std::string& how : open) EXPECT_EQ(outcome(how, in_path), "the copy") << how;
}

// Put there by another user while the directory was open to others: the right bytes, which it could exchange.
TEST_F(AgentCopy, ThatAnotherUserOwnsIsMadeAnew) {
  Bootstrap first(hosts, {"h0"}, {}, agent);
  first.waitForAll();
  ASSERT_TRUE(first.reached.contains(0)) << first.problems();
  EXPECT_EQ(echo(first.reached.at(0).stream.get(), "hello"), "hello");
  const std::string copy = "~root/.cache/poprun/" + filesIn(0, "/.cache/poprun").at(0);
  for (const std::string& how :
       {"chown nobody " + copy, "chmod 777 " + copy,
        "cp " + copy + " /tmp/theirs; chown nobody /tmp/theirs; ln -sf /tmp/theirs " + copy}) {
    ASSERT_EQ(hosts.run(0, how).exit_code, 0) << how;
    Bootstrap again(hosts, {"h0"}, {}, agent);
    again.waitForAll();
    ASSERT_TRUE(again.reached.contains(0)) << how << ": " << again.problems();
    EXPECT_THAT(again.phases[0], Contains(kCopying)) << how;
    EXPECT_EQ(echo(again.reached.at(0).stream.get(), "hello"), "hello");
    EXPECT_EQ(hosts.run(0, "stat -c '%F %U %a' " + copy).text, "regular file root 700\n") << how;
  }
}

TEST_F(AgentCopy, ADirectoryForCopiesThatOtherUsersCouldChangeIsNamed) {
  std::ofstream(hosts.home(0) + "/.bashrc") << "export XDG_CACHE_HOME=/opt/cache\n";
  const auto prepared = [&](const std::string& how) {
    hosts.run(0, "umount /opt; mount -t tmpfs -o mode=755 tmpfs /opt; mkdir -p /opt/cache; " + how);
  };
  prepared("chmod 777 /opt/cache");
  EXPECT_THAT(failureOn(0),
              AllOf(HasSubstr("other users can write to /opt/cache"), HasSubstr("XDG_CACHE_HOME")));
  prepared("mkdir /opt/cache/poprun; chown nobody /opt/cache/poprun");
  EXPECT_THAT(failureOn(0), HasSubstr("other users can write to /opt/cache/poprun"));
  prepared("chmod 1777 /opt/cache");
  EXPECT_EQ(failureOn(0), "it did not");
  prepared("chmod 775 /opt/cache; mkdir -m 777 /opt/cache/poprun");  // as with a umask of 002
  EXPECT_EQ(failureOn(0), "it did not");
}

TEST_F(AgentCopy, ANamedAgentIsUsedOrSaidToBeWrong) {
  writeEchoAgent(hosts.tmp(0) + "/mine");
  writeEchoAgent(hosts.tmp(1) + "/mine", "0.0.9");
  agent.remote_path = "/tmp/mine";
  Bootstrap bootstrap(hosts, {"h0", "h1"}, {}, agent);
  bootstrap.waitForAll();
  EXPECT_TRUE(bootstrap.reached.contains(0)) << bootstrap.problems();
  EXPECT_THAT(bootstrap.whyFailed(1),
              AllOf(HasSubstr("/tmp/mine is not version 0.1.0 there"), HasSubstr("popdist-agent 0.0.9")));
  agent.remote_path = "/tmp/none";
  EXPECT_THAT(failureOn(0), HasSubstr("/tmp/none is not an executable program there"));
  agent.remote_path = "/tmp/'; reboot";
  EXPECT_THAT(failureOn(0), HasSubstr("must not contain quotes"));
}

// The half is gone when the failure is said, however long that takes.
TEST_F(AgentCopy, AFullDiskIsSaidAndNoHalfFileStays) {
  writeScript(hosts.bin(0) + "/rm", "sleep 0.5\nexec /bin/rm \"$@\"");
  hosts.run(0, "mkdir ~root/.cache; mount -t tmpfs -o size=256k tmpfs ~root/.cache");
  EXPECT_THAT(failureOn(0), AllOf(HasSubstr("writing"), HasSubstr("No space left on device")));
  EXPECT_EQ(hosts.run(0, "find ~root/.cache/poprun -type f").text, "");
}

TEST_F(AgentCopy, ADirectoryThatCannotBeUsedIsNamed) {
  hosts.run(0, "mkdir ~root/.cache; mount -t tmpfs -o ro tmpfs ~root/.cache");
  EXPECT_THAT(failureOn(0), AllOf(HasSubstr(".cache/poprun"), HasSubstr("Read-only file system")));
  hosts.run(1, "mkdir ~root/.cache; mount -t tmpfs -o noexec tmpfs ~root/.cache");
  EXPECT_THAT(failureOn(1), AllOf(HasSubstr("cannot be executed"), HasSubstr("noexec")));
}

TEST_F(AgentCopy, WithoutOneToCopyTheErrorSaysThatItIsNotInstalled) {
  agent.local_file.clear();
  EXPECT_THAT(failureOn(0), AllOf(HasSubstr("popdist-agent is not installed there")));
  agent.local_file = directory.path() + "/none";
  EXPECT_THAT(failureOn(0), HasSubstr(agent.local_file));
}

TEST_F(AgentCopy, WhatStartUpFilesPrintDoesNotDisturb) {
  writeEchoAgent(hosts.bin(0) + "/popdist-agent");
  std::ofstream(hosts.home(0) + "/.bashrc") << "echo Welcome; printf 'no newline'; echo noise >&2\n";
  Bootstrap bootstrap(hosts, {"h0"}, {}, agent);
  bootstrap.waitForAll();
  ASSERT_TRUE(bootstrap.reached.contains(0)) << bootstrap.problems();
  EXPECT_EQ(echo(bootstrap.reached.at(0).stream.get(), "clean"), "clean");
}

TEST_F(AgentCopy, ALoginThatRunsNothingSaysWhatItSaid) {
  hosts.run(0, "echo 'echo This account is closed; exit 3' >~root/.bashrc");
  EXPECT_THAT(failureOn(0), AllOf(HasSubstr("the agent did not start"), HasSubstr("This account is closed"),
                                  HasSubstr("exit code 3")));
}

TEST_F(AgentCopy, AnAgentThatNeverAnswersIsNamedAfterItsTimeout) {
  hosts.run(0, "echo 'exec sleep 100' >~root/.bashrc");
  Bootstrap bootstrap(hosts, {"h0"}, {.start_timeout_ms = 500}, agent);
  bootstrap.waitForAll();
  EXPECT_THAT(bootstrap.whyFailed(0), HasSubstr("while starting the agent: no answer within 0.5 s"));
}

}  // namespace
}  // namespace pop::testing
