// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/copy/distribute_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/poprun/bootstrap/copy/near_shell.h"

namespace pop {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Hosts whose names begin with "new" do not know the key, "lost" ones cannot be reached, "hung" ones run
// nothing.
constexpr const char* kKeyedHosts = R"(
case $host in
  new*) [ -e "$far/key" ] || { echo "Welcome" >&2; echo "$host: Permission denied (publickey)." >&2; exit 255; } ;;
  hung*) exec sleep 600 ;;
  lost*) echo "ssh: connect to host $host port 22: No route to host" >&2; exit 255 ;;
esac
exec $command)";

class DistributeKey : public ::testing::Test {
 protected:
  DistributeKey() {
    settings_.rsh = {shell_.path()};
    settings_.copier = {shell_.directory() + "/copier"};
    settings_.home = shell_.directory();
    settings_.has_terminal = true;
    shell_.write("copier", "#!/bin/sh\nwhile [ \"$1\" = -o ]; do echo \"$2\" >> " + shell_.directory() +
                               "/settings; shift 2; done\necho \"$@\" >> " + shell_.directory() +
                               "/calls\ncp \"$2\" " + shell_.directory() + "/far/\"$3\"/key\n");
    shell_.write(".ssh/id_ed25519.pub", "the key");
  }
  std::vector<std::string> distributeTo(std::vector<std::string> hosts) {
    settings_.hosts = std::move(hosts);
    return distributeKey(settings_);
  }

  testing::NearShell shell_{kKeyedHosts};
  KeySettings settings_;
};

TEST_F(DistributeKey, AsksOnlyForHostsThatDoNotAcceptItYet) {
  EXPECT_THAT(distributeTo({"h0", "new1", "h2", "new3"}), IsEmpty());
  const std::string key = settings_.home + "/.ssh/id_ed25519.pub";
  EXPECT_EQ(shell_.read(shell_.directory() + "/calls"), "-i " + key + " new1\n-i " + key + " new3\n");
  EXPECT_THAT(distributeTo({"new1"}), IsEmpty());
  EXPECT_EQ(shell_.read(shell_.directory() + "/calls"), "-i " + key + " new1\n-i " + key + " new3\n");
  EXPECT_THAT(
      shell_.read(shell_.directory() + "/settings"),
      AllOf(HasSubstr("BatchMode=no\n"), HasSubstr("RemoteCommand=none\n"), HasSubstr("Tunnel=no\n")));
}

TEST_F(DistributeKey, WithoutATerminalSaysWhatToRun) {
  settings_.has_terminal = false;
  EXPECT_THAT(
      distributeTo({"new1", "h0", "new2"}),
      ElementsAre(AllOf(HasSubstr("new1: new1: Permission denied"),
                        HasSubstr("/copier -i " + settings_.home + "/.ssh/id_ed25519.pub new1 first")),
                  HasSubstr("new2 first")));
  EXPECT_EQ(shell_.read(shell_.directory() + "/calls"), "");
}

TEST_F(DistributeKey, SaysWhatToDoWhereSshCopyIdWouldGoAnotherWay) {
  settings_.copier.clear();
  EXPECT_THAT(distributeTo({"new1", "h0"}), ElementsAre(AllOf(HasSubstr("new1: new1: Permission denied"),
                                                              HasSubstr("ssh-copy-id does not use --rsh"),
                                                              HasSubstr("authorized_keys there"))));
}

TEST_F(DistributeKey, DoesNotAskForAPasswordOfAHostThatCannotBeReached) {
  EXPECT_THAT(distributeTo({"lost1", "new1"}),
              ElementsAre(HasSubstr("lost1: ssh: connect to host lost1 port 22: "
                                    "No route to host")));
  EXPECT_THAT(shell_.read(shell_.directory() + "/calls"), HasSubstr("new1"));
}

TEST_F(DistributeKey, NamesAHostWhoseLoginShellHangs) {
  settings_.timeout = std::chrono::seconds(5);
  EXPECT_THAT(distributeTo({"hung1", "h2"}),
              ElementsAre("hung1: " + shell_.path() +
                          " did not run `true` there within 5 s (--connect-timeout and the time to start an "
                          "agent): does the login shell there wait for something?"));
}

TEST_F(DistributeKey, WithoutAKeySaysHowToMakeOne) {
  std::filesystem::remove(settings_.home + "/.ssh/id_ed25519.pub");
  EXPECT_THAT(distributeTo({"h0"}), IsEmpty());
  EXPECT_THAT(distributeTo({"new1"}), ElementsAre(HasSubstr("ssh-keygen -t ed25519")));
}

TEST_F(DistributeKey, SaysWhereItFailed) {
  shell_.write("copier", "#!/bin/sh\nexit 1\n");
  EXPECT_THAT(distributeTo({"new1"}), ElementsAre(AllOf(HasSubstr("new1: "), HasSubstr("new1 failed"))));
  settings_.copier = {"/nowhere/ssh-copy-id"};
  EXPECT_THAT(distributeTo({"new1"}), ElementsAre(HasSubstr("starting /nowhere/ssh-copy-id: No such file")));
}

}  // namespace
}  // namespace pop
