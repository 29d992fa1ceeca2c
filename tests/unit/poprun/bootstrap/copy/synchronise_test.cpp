// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/copy/synchronise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "poprun/bootstrap/ssh_words.h"
#include "tests/unit/poprun/bootstrap/copy/near_shell.h"

namespace pop {
namespace {

using model::CopyState;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// rsync's server is told to write to /, its last word: it writes to the host's directory.
constexpr const char* kCopyHosts = R"(
case $host in
  lost*) echo "ssh: Could not resolve hostname $host: Name or service not known" >&2; exit 255 ;;
  bare*) PATH=/nowhere; $command ;;
  full*) trap '' XFSZ; ulimit -f 1; exec $(/bin/echo "$command" | sed 's| /$||') "$far" ;;
  *) exec $(/bin/echo "$command" | sed 's| /$||') "$far" ;;
esac)";

class Synchronise : public ::testing::Test {
 protected:
  Synchronise() {
    shell_.write("files/one", "1");
    shell_.write("files/sub dir/two", "2");
    settings_.rsh = {shell_.path()};
    settings_.paths = {files()};
    settings_.progress = [this](int host, CopyState state, int percent) {
      states_[host] = state;
      percents_[host] = std::max(percents_[host], percent);
    };
  }
  std::string files() const { return shell_.directory() + "/files"; }
  std::string on(const std::string& host, const std::string& path) const {
    return shell_.read(shell_.rootOf(host) + path);
  }
  std::vector<std::string> copyTo(std::vector<std::string> hosts) {
    settings_.hosts = std::move(hosts);
    return copyToHosts(settings_);
  }

  testing::NearShell shell_{kCopyHosts};
  CopySettings settings_;
  std::map<int, CopyState> states_;
  std::map<int, int> percents_;
};

TEST_F(Synchronise, CopiesToTheSamePlaceOnEveryHost) {
  EXPECT_THAT(copyTo({"h0", "alice@h1"}), IsEmpty());
  EXPECT_EQ(on("h0", files() + "/one"), "1");
  EXPECT_EQ(on("h0", files() + "/sub dir/two"), "2");
  EXPECT_EQ(on("h1", files() + "/one"), "1");
  EXPECT_THAT(states_,
              ElementsAre(::testing::Pair(0, CopyState::kDone), ::testing::Pair(1, CopyState::kDone)));
  EXPECT_EQ(percents_[0], 100);
}

TEST_F(Synchronise, BringsChangesAndDeletesNothing) {
  ASSERT_THAT(copyTo({"h0"}), IsEmpty());
  std::filesystem::remove(files() + "/one");
  shell_.write("files/sub dir/two", "22");
  EXPECT_THAT(copyTo({"h0"}), IsEmpty());
  EXPECT_EQ(on("h0", files() + "/one"), "1");
  EXPECT_EQ(on("h0", files() + "/sub dir/two"), "22");
}

TEST_F(Synchronise, TakesFilesAndWhatALinkToADirectoryNames) {
  std::filesystem::create_directory_symlink(files(), shell_.directory() + "/link");
  settings_.paths = {files() + "/sub dir/two", shell_.directory() + "/link"};
  EXPECT_THAT(copyTo({"h0"}), IsEmpty());
  EXPECT_EQ(on("h0", files() + "/sub dir/two"), "2");
  EXPECT_FALSE(std::filesystem::exists(shell_.rootOf("h0") + files() + "/one"));
  EXPECT_EQ(on("h0", shell_.directory() + "/link/one"), "1");
}

TEST_F(Synchronise, LeavesDirectoriesAboveAsTheyAre) {
  const std::string above = shell_.rootOf("h0") + shell_.directory();
  std::filesystem::create_directories(above);
  ASSERT_EQ(::chmod(above.c_str(), 0711), 0);
  ASSERT_THAT(copyTo({"h0"}), IsEmpty());
  struct stat status {};
  ASSERT_EQ(::stat(above.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0711U);
}

TEST_F(Synchronise, ReportsTheFailuresOfAllHostsTogether) {
  shell_.write("files/large", std::string(100000, 'x'));
  EXPECT_THAT(
      copyTo({"lost1", "h0", "bare", "full", "lost2"}),
      ElementsAre(HasSubstr("lost1: the remote shell failed: ssh: Could not resolve hostname lost1"),
                  HasSubstr("bare: rsync is not installed there: install it"),
                  ::testing::AllOf(HasSubstr("full: copying failed: rsync: "), HasSubstr("File too large")),
                  HasSubstr("lost2: the remote shell failed: ssh:")));
  EXPECT_EQ(on("h0", files() + "/one"), "1");
  EXPECT_EQ(states_[0], CopyState::kFailed);
  EXPECT_EQ(states_[1], CopyState::kDone);
}

TEST_F(Synchronise, WithoutRsyncHereSaysSoOnce) {
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const std::vector<std::string> failures = copyTo({"h0", "h1"});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(failures, ElementsAre(HasSubstr("rsync is not installed on this host")));
}

TEST_F(Synchronise, NamesHostsAsRsyncDoes) {
  EXPECT_EQ(copyCommand(settings_, "fd00::1").back(), "[fd00::1]:/");
  EXPECT_EQ(copyCommand(settings_, "alice@h0").back(), "alice@h0:/");
}

TEST(Unattended, KeepsSshFromAskingFromWaitingForEverAndFromLoginsByHand) {
  EXPECT_THAT(unattended({"/usr/bin/ssh", "-p", "22"}, std::chrono::seconds(60)),
              ::testing::IsSupersetOf({"-p", "22", "BatchMode=yes", "ConnectTimeout=60", "RemoteCommand=none",
                                       "ClearAllForwardings=yes", "SessionType=default", "StdinNull=no",
                                       "ForkAfterAuthentication=no", "RequestTTY=no", "ControlMaster=no"}));
  EXPECT_THAT(unattended({"my-shell"}, std::chrono::seconds(60)), ElementsAre("my-shell"));
}

// An ssh from before OpenSSH 8.7 would not start.
TEST_F(Synchronise, DoesNotTellAnOldSshOfSettingsThatItDoesNotKnow) {
  const std::string old = shell_.directory() + "/ssh";
  shell_.write("ssh", "#!/bin/sh\nexec ssh \"$@\" | grep -v -e sessiontype -e stdinnull -e forkafter\n");
  EXPECT_THAT(unattended({old}, std::chrono::seconds(60)),
              AllOf(Contains("RemoteCommand=none"), Not(Contains("SessionType=default")),
                    Not(Contains("StdinNull=no")), Not(Contains("ForkAfterAuthentication=no"))));
}

TEST(CopyFailure, IsTheSameWhicheverEndOfTheConnectionRsyncSawFirst) {
  const std::string ssh = "ssh: connect to host h0 port 22: No route to host\n";
  const os::HelperEnd by_code{failedPrecondition("x"), 255,
                              ssh + "rsync error: unexplained error (code 255)\n"};
  const os::HelperEnd by_pipe{failedPrecondition("x"), 12,
                              ssh +
                                  "rsync: connection unexpectedly closed (0 bytes received so far) [sender]\n"
                                  "rsync: [sender] write error: Broken pipe (32)\n"
                                  "rsync error: error in socket IO (code 10)\n"};
  EXPECT_EQ(copyFailure("h0", by_code),
            "h0: the remote shell failed: ssh: connect to host h0 port 22: No route to host");
  EXPECT_EQ(copyFailure("h0", by_pipe), copyFailure("h0", by_code));
  const os::HelperEnd still{failedPrecondition("x"), 30,
                            "[sender] io timeout after 60 seconds -- exiting\n"
                            "rsync error: timeout in data send/receive (code 30) at io.c(248)\n"};
  EXPECT_EQ(copyFailure("h0", still),
            "h0: no progress for 60 s: the login shell there, rsync or the network is stuck");
  const os::HelperEnd silent{failedPrecondition("x"), 12, "rsync error: error in protocol (code 12)\n"};
  EXPECT_EQ(copyFailure("h0", silent), "h0: the connection broke (rsync's exit code 12)");
}

TEST(PercentIn, IsTheLastOfThem) {
  EXPECT_EQ(percentIn("      1,234  45%   10.30MB/s    0:00:03"), 45);
  EXPECT_EQ(percentIn("\r 1 2% 1MB/s\r 3 100% 1MB/s 0:00:00 (xfr#3, to-chk=0/5)\n"), 100);
  EXPECT_EQ(percentIn("sending"), -1);
  EXPECT_EQ(percentIn("%"), -1);
}

}  // namespace
}  // namespace pop
