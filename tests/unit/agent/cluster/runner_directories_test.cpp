// SPDX-License-Identifier: Apache-2.0
// On a real file system.
#include "agent/cluster/runner_directories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/testing/temp_dir.h"

namespace pop::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunnerDirectoriesTest : public ::testing::Test {
 protected:
  std::string state() const { return directory_.path() + "/a/state"; }
  static UnixUser self() { return {"me", ::geteuid(), ::getegid(), "/", "/bin/sh"}; }

  testing::TempDir directory_;
  RunnerDirectories directories_{state()};
};

TEST_F(RunnerDirectoriesTest, KeepTheEpochWithItsCluster) {
  ASSERT_TRUE(directories_.prepare().ok());
  EXPECT_EQ(directories_.epoch().value(), 0u);
  ASSERT_TRUE(directories_.enter("c1", 7).ok());
  EXPECT_EQ(directories_.epoch().value(), 7u);
  ASSERT_TRUE(directories_.enter("c2", 2).ok());
  EXPECT_EQ(directories_.epoch().value(), 2u);
  std::ofstream(state() + "/cluster") << "c1\n";
  EXPECT_EQ(directories_.epoch().value(), 0u) << "an older version has written it";
  std::ofstream(state() + "/cluster") << "c1\nx\n";
  EXPECT_EQ(directories_.epoch().code(), Code::kDataLoss);
}

TEST_F(RunnerDirectoriesTest, RememberTheClusterAndItsRunners) {
  ASSERT_TRUE(directories_.prepare().ok());
  EXPECT_EQ(directories_.cluster().value(), "");
  EXPECT_TRUE(directories_.list("")->empty());
  ASSERT_TRUE(directories_.enter("c1", 1).ok());
  const RunnerId late{"c1", 10, 1};
  const RunnerId early{"c1", 9, 2};
  ASSERT_TRUE(directories_.create(late, self()).ok());
  ASSERT_TRUE(directories_.create(early, self()).ok());
  EXPECT_EQ(directories_.create(early, self()).code(), Code::kAlreadyExists);
  const RunnerDirectories again(state());
  ASSERT_TRUE(again.prepare().ok());
  EXPECT_EQ(again.cluster().value(), "c1");
  EXPECT_EQ(again.epoch().value(), 1u);
  EXPECT_THAT(again.list("c1").value(), ElementsAre(early, late));
  EXPECT_TRUE(again.list("c2")->empty());
  EXPECT_EQ(again.ownerOf(late).value(), ::geteuid());
  EXPECT_TRUE(again.remove(late).ok());
  EXPECT_TRUE(again.remove(late).ok());
  EXPECT_EQ(again.ownerOf(late).code(), Code::kNotFound);
}

TEST_F(RunnerDirectoriesTest, AreListedWithoutWhatIsNoRunners) {
  ASSERT_TRUE(directories_.prepare().ok());
  ASSERT_TRUE(directories_.enter("c1", 1).ok());
  for (const char* name : {"1.1", "1", "x.1", "1.-1", "01.1", "1.1.1", "1.99999999999"})
    std::filesystem::create_directory(state() + "/jobs/c1/" + name);
  EXPECT_THAT(directories_.list("c1").value(), ElementsAre(RunnerId{"c1", 1, 1}));
}

TEST_F(RunnerDirectoriesTest, AreForTheirUsersOnly) {
  ::umask(0);
  ASSERT_TRUE(directories_.prepare().ok());
  ASSERT_TRUE(directories_.enter("c1", 1).ok());
  ASSERT_TRUE(directories_.create({"c1", 1, 1}, self()).ok());
  ::umask(022);
  struct stat status {};
  ASSERT_EQ(::stat(directories_.pathOf({"c1", 1, 1}).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
  for (const char* name : {"", "/jobs", "/jobs/c1"}) {
    ASSERT_EQ(::stat((state() + name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, ::geteuid() == 0 ? 0711U : 0700U) << name;
  }
}

TEST_F(RunnerDirectoriesTest, AreNotMadeWhereOthersCanWrite) {
  ASSERT_TRUE(directories_.prepare().ok());
  std::filesystem::permissions(state() + "/jobs", std::filesystem::perms(0777));
  EXPECT_EQ(directories_.prepare().code(), Code::kPermissionDenied);
  std::filesystem::permissions(state() + "/jobs", std::filesystem::perms(0711));
  std::filesystem::create_symlink("/tmp", state() + "/jobs/c1");
  EXPECT_EQ(directories_.enter("c1", 1).code(), Code::kFailedPrecondition);
}

TEST_F(RunnerDirectoriesTest, AreOfOneServiceAtATime) {
  ASSERT_TRUE(directories_.prepare().ok());
  Result<sys::Fd> taken = directories_.take();
  ASSERT_TRUE(taken.ok()) << taken.status().message();
  EXPECT_EQ(directories_.take().code(), Code::kAlreadyExists);
  taken->reset();
  EXPECT_TRUE(directories_.take().ok());
}

TEST_F(RunnerDirectoriesTest, AreOfClustersWithPlainNames) {
  ASSERT_TRUE(directories_.prepare().ok());
  for (const char* name : {"", ".", "..", "a/b", "a b", "c\n"})
    EXPECT_EQ(directories_.enter(name, 1).code(), Code::kInvalidArgument) << name;
  EXPECT_EQ(directories_.enter(std::string(65, 'a'), 1).code(), Code::kInvalidArgument);
  EXPECT_TRUE(directories_.enter("0af3-9c_X", 1).ok());
}

TEST_F(RunnerDirectoriesTest, SayWhatIsWrongWithTheState) {
  EXPECT_THAT(RunnerDirectories("here").prepare().message(), HasSubstr("not an absolute path"));
  ASSERT_TRUE(directories_.prepare().ok());
  std::ofstream(state() + "/cluster") << "../x\n";
  EXPECT_EQ(directories_.cluster().code(), Code::kDataLoss);
}

TEST(DefaultState, IsOfTheSystemOrOfTheUser) {
  EXPECT_EQ(defaultState({"root", 0, 0, "/root", "/bin/sh"}), "/var/lib/popdist");
  EXPECT_EQ(defaultState({"alice", 1000, 1000, "/home/alice", "/bin/sh"}),
            "/home/alice/.local/state/popdist");
}

}  // namespace
}  // namespace pop::agent
