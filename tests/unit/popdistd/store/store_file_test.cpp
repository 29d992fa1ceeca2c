// SPDX-License-Identifier: Apache-2.0
// The file of the store and its directory: whose they are, and what is refused instead of being opened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "popdistd/store/sqlite_schema.h"
#include "tests/testing/file_text.h"
#include "tests/unit/popdistd/store/child.h"
#include "tests/unit/popdistd/store/store_fixture.h"

namespace pop::popdistd {
namespace {

using pop::testing::jobRecord;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

mode_t modeOf(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

class StoreFileTest : public ::testing::Test {
 protected:
  Status openStatus() const { return SqliteStore::open(directory_).status(); }
  // A store with so many jobs, closed.
  void makeStore(int jobs) const {
    const auto store = pop::testing::openStore(directory_);
    for (int job = 1; job <= jobs; ++job) ASSERT_TRUE(store->putJob(jobRecord(job)).ok());
    ASSERT_TRUE(store->commit().ok());
  }
  void run(const std::string& statements) const {
    Database other = Database::open(file_, Database::Access::kWrite).value();
    const Status status = other.script(statements);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  pop::testing::TempDir home_;
  const std::string directory_ = home_ / "a/state";
  const std::string file_ = directory_ + "/store.db";
};

TEST_F(StoreFileTest, IsTheUsersAlone) {
  const mode_t before = ::umask(0);
  const auto store = pop::testing::openStore(directory_);
  ASSERT_TRUE(store->putJob(jobRecord(1)).ok());
  ASSERT_TRUE(store->commit().ok());
  ::umask(before);
  EXPECT_EQ(modeOf(directory_), 0700u);
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    EXPECT_EQ(modeOf(entry.path()), 0600u) << entry.path();
}

TEST_F(StoreFileTest, BecomesTheUsersAloneIfItWasCopiedHere) {
  makeStore(1);
  ASSERT_EQ(::chmod(file_.c_str(), 0644), 0);
  EXPECT_TRUE(openStatus().ok());
  EXPECT_EQ(modeOf(file_), 0600u);
}

TEST_F(StoreFileTest, IsNotOpenedTwice) {
  auto store = pop::testing::openStore(directory_);
  const Status status = openStatus();
  EXPECT_EQ(status.code(), Code::kAlreadyExists);
  EXPECT_THAT(status.message(), HasSubstr(std::to_string(::getpid())));
  pop::testing::inAChild([&] {
    const Status in_child = openStatus();
    EXPECT_EQ(in_child.code(), Code::kAlreadyExists);
    EXPECT_THAT(in_child.message(), HasSubstr(std::to_string(::getppid())));
  });
  store.reset();
  EXPECT_TRUE(openStatus().ok());
}

TEST_F(StoreFileTest, IsNotOpenedWhereOthersMayWrite) {
  makeStore(1);
  ASSERT_EQ(::chmod(directory_.c_str(), 0770), 0);
  EXPECT_EQ(openStatus().code(), Code::kPermissionDenied);
  ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);
  EXPECT_TRUE(openStatus().ok());
}

TEST_F(StoreFileTest, IsNotOpenedInADirectoryThatIsReadOnly) {
  makeStore(1);
  pop::testing::inAChild([&] {
    ASSERT_NO_FATAL_FAILURE(pop::testing::ownMounts());
    const char* const path = directory_.c_str();
    ASSERT_EQ(::mount(path, path, nullptr, MS_BIND, nullptr), 0);
    ASSERT_EQ(::mount(path, path, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr), 0);
    const Status status = openStatus();
    EXPECT_EQ(status.code(), Code::kPermissionDenied);
    EXPECT_THAT(status.message(), HasSubstr(directory_));
    EXPECT_THAT(status.message(), HasSubstr("Read-only"));
  });
}

TEST_F(StoreFileTest, IsNotOpenedIfItIsNone) {
  std::filesystem::create_directories(directory_);
  ASSERT_EQ(::chmod(directory_.c_str(), 0700), 0);
  std::filesystem::create_directory(file_);
  EXPECT_EQ(openStatus().code(), Code::kFailedPrecondition);
  std::filesystem::remove(file_);
  std::filesystem::create_symlink("/dev/null", file_);
  EXPECT_EQ(openStatus().code(), Code::kFailedPrecondition);
  std::filesystem::remove(file_);
  EXPECT_TRUE(openStatus().ok());
}

TEST_F(StoreFileTest, OfANewerDaemonIsRefusedAndLeftAlone) {
  makeStore(1);
  run("PRAGMA user_version = 1000");
  const Status status = openStatus();
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("1000"));
  run("PRAGMA user_version = " + std::to_string(schemaSteps().size()));
  EXPECT_THAT(pop::testing::jobIds(*pop::testing::openStore(directory_)), ElementsAre(1));
}

TEST_F(StoreFileTest, OfAnotherProgramIsRefusedAndLeftAlone) {
  makeStore(0);
  std::filesystem::remove(file_);
  std::ofstream{file_};
  run("CREATE TABLE theirs(x)");
  const std::string before = pop::testing::fileText(file_);
  const Status status = openStatus();
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("another program"));
  EXPECT_EQ(pop::testing::fileText(file_), before);
}

TEST_F(StoreFileTest, IsRefusedAsDamagedIfItIsEmptyOrGarbageOrCut) {
  makeStore(1000);
  const std::string whole = pop::testing::fileText(file_);
  std::string overwritten = whole;
  overwritten.replace(whole.size() / 2, 4096, std::string(4096, '\xff'));
  for (const std::string& bytes : {std::string(), std::string(9000, 'x'), whole.substr(0, 50),
                                   whole.substr(0, whole.size() / 2), overwritten}) {
    std::ofstream(file_, std::ios::binary) << bytes;
    const Status status = openStatus();
    EXPECT_EQ(status.code(), Code::kDataLoss) << bytes.size() << " bytes: " << status.message();
    EXPECT_THAT(status.message(), HasSubstr("popctl backup"));
  }
  std::ofstream(file_, std::ios::binary) << whole;
  EXPECT_EQ(pop::testing::jobIds(*pop::testing::openStore(directory_)).size(), 1000u);
}

TEST_F(StoreFileTest, IsNotMadeAnewBesideWhatALostOneHasLeft) {
  makeStore(1);
  std::filesystem::remove(file_);
  std::ofstream(file_ + "-wal") << "changes";
  EXPECT_EQ(openStatus().code(), Code::kDataLoss);
  std::filesystem::remove(file_ + "-wal");
  EXPECT_TRUE(openStatus().ok());
}

TEST_F(StoreFileTest, IsMadeAgainAfterAHalfFinishedStart) {
  makeStore(0);
  std::filesystem::remove(file_);
  std::ofstream(file_ + ".new") << "half";
  std::ofstream(file_ + ".new-journal") << "of a file";
  makeStore(1);
  EXPECT_FALSE(std::filesystem::exists(file_ + ".new"));
}

TEST_F(StoreFileTest, SaysWhichRecordCannotBeRead) {
  makeStore(3);
  run("UPDATE jobs SET record = x'ffff' WHERE id = 2");
  const Status status = pop::testing::openStore(directory_)->jobs().status();
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("job 2"));
}

}  // namespace
}  // namespace pop::popdistd
