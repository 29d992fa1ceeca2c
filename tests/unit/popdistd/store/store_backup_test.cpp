// SPDX-License-Identifier: Apache-2.0
// Copies of the store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/testing/file_text.h"
#include "tests/unit/popdistd/store/store_fixture.h"

namespace pop::popdistd {
namespace {

using pop::testing::jobRecord;
using ::testing::ElementsAre;

class StoreBackupTest : public pop::testing::StoreTest {
 protected:
  // A store whose file is the copy.
  std::unique_ptr<SqliteStore> restored() const {
    const std::string directory = home_ / "restored";
    std::filesystem::create_directory(directory);
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
    std::filesystem::copy_file(copy_, directory + "/store.db");
    return pop::testing::openStore(directory);
  }

  const std::string copy_ = home_ / "copy.db";
};
INSTANTIATE_TEST_SUITE_P(Stores, StoreBackupTest, pop::testing::kPlaces, pop::testing::placeName);

TEST_P(StoreBackupTest, HasAllThatIsCommitted) {
  put(jobRecord(1));
  ASSERT_TRUE(store_->putPartition("p", "record", pop::testing::ipus(0, 4)).ok());
  ASSERT_TRUE(store_->bind("p", 1).ok());
  ASSERT_TRUE(store_->putEvent(1, pop::testing::event(1)).ok());
  ASSERT_TRUE(store_->putMeta("epoch", "3").ok());
  commit();
  const Status status = store_->backup(copy_);
  ASSERT_TRUE(status.ok()) << status.message();
  struct stat file {};
  ASSERT_EQ(::stat(copy_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07777, 0600u);
  EXPECT_FALSE(std::filesystem::exists(copy_ + ".new"));
  const auto copy = restored();
  EXPECT_THAT(pop::testing::jobIds(*copy), ElementsAre(1));
  EXPECT_EQ(copy->partitions().value().at(0).job, 1);
  EXPECT_THAT(copy->events(1, 0, 9).value(), ElementsAre(pop::testing::event(1)));
  EXPECT_EQ(copy->meta("epoch").value(), "3");
  EXPECT_THAT(copy->check().value().findings, ::testing::IsEmpty());
}

TEST_P(StoreBackupTest, NeverReplacesAFile) {
  std::ofstream(copy_) << "precious";
  EXPECT_EQ(store_->backup(copy_).code(), Code::kAlreadyExists);
  EXPECT_EQ(pop::testing::fileText(copy_), "precious");
  EXPECT_EQ(store_->backup(home_ / "missing/copy").code(), Code::kNotFound);
  EXPECT_EQ(store_->backup("copy").code(), Code::kInvalidArgument);
}

TEST_P(StoreBackupTest, HasNothingOfATurnThatGoesOn) {
  put(jobRecord(1));
  commit();
  put(jobRecord(2));
  if (GetParam() == pop::testing::Place::kMemory) {
    EXPECT_EQ(store_->backup(copy_).code(), Code::kFailedPrecondition);
  } else {
    EXPECT_TRUE(store_->backup(copy_).ok());
    EXPECT_THAT(pop::testing::jobIds(*restored()), ElementsAre(1));
  }
  commit();
  EXPECT_THAT(pop::testing::jobIds(*store_), ElementsAre(1, 2));
}

TEST(StoreBackup, IsMadeByAnotherThreadWhileTheLoopGoesOn) {
  const pop::testing::TempDir home;
  const auto store = pop::testing::openStore(home / "state");
  constexpr std::size_t kCopies = 10;
  std::vector<Status> copied(kCopies);
  std::thread copier([&] {
    for (std::size_t copy = 0; copy < kCopies; ++copy)
      copied[copy] = store->backup(home / ("copy" + std::to_string(copy)));
  });
  for (std::int64_t job = 1; job <= 100; ++job) {
    EXPECT_TRUE(store->putJob(jobRecord(job)).ok());
    EXPECT_TRUE(store->putEvent(job, pop::testing::event(1)).ok());
    EXPECT_TRUE(store->commit().ok());
  }
  copier.join();
  for (std::size_t copy = 0; copy < kCopies; ++copy) {
    ASSERT_TRUE(copied[copy].ok()) << copied[copy].message();
    Database database =
        Database::open(home / ("copy" + std::to_string(copy)), Database::Access::kRead).value();
    EXPECT_EQ(database.number("SELECT count(*) FROM jobs").value(),
              database.number("SELECT count(*) FROM job_events").value());
  }
}

}  // namespace
}  // namespace pop::popdistd
