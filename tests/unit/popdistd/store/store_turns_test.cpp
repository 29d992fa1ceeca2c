// SPDX-License-Identifier: Apache-2.0
// A turn's writes become durable together, or none of them does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/popdistd/store/store_fixture.h"

namespace pop::popdistd {
namespace {

using pop::testing::ipus;
using pop::testing::jobRecord;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StoreTurnsTest : public pop::testing::StoreTest {};
INSTANTIATE_TEST_SUITE_P(Stores, StoreTurnsTest, pop::testing::kPlaces, pop::testing::placeName);

TEST_P(StoreTurnsTest, BeginWithAWriteAndEndWithACommit) {
  EXPECT_FALSE(store_->hasUncommitted());
  EXPECT_TRUE(store_->commit().ok());
  EXPECT_THAT(pop::testing::jobIds(*store_), IsEmpty());
  EXPECT_FALSE(store_->hasUncommitted());
  put(jobRecord(1));
  EXPECT_TRUE(store_->hasUncommitted());
  EXPECT_THAT(pop::testing::jobIds(*store_), ElementsAre(1));
  commit();
  EXPECT_FALSE(store_->hasUncommitted());
  EXPECT_THAT(pop::testing::jobIds(*store_), ElementsAre(1));
}

TEST_P(StoreTurnsTest, GoOnAfterARefusal) {
  put(jobRecord(1, "request"));
  EXPECT_EQ(store_->putJob(jobRecord(2, "request")).code(), Code::kAlreadyExists);
  put(jobRecord(3));
  EXPECT_EQ(store_->bind("nothing", 1).code(), Code::kNotFound);
  ASSERT_TRUE(store_->putPartition("p", "", ipus(0, 4)).ok());
  EXPECT_EQ(store_->putPartition("q", "", ipus(0, 4)).code(), Code::kAlreadyExists);
  commit();
  EXPECT_THAT(pop::testing::jobIds(*store_), ElementsAre(1, 3));
  EXPECT_EQ(store_->partitions().value().size(), 1u);
  EXPECT_THAT(store_->check().value().findings, IsEmpty());
}

class StoreFileTurnsTest : public ::testing::Test {
 protected:
  pop::testing::TempDir home_;
  const std::string directory_ = home_ / "state";
};

TEST_F(StoreFileTurnsTest, AreThereWhenTheStoreIsOpenedAgainIfTheyWereCommitted) {
  {
    const auto store = pop::testing::openStore(directory_);
    ASSERT_TRUE(store->putJob(jobRecord(1)).ok());
    ASSERT_TRUE(store->putPartition("p", "", ipus(0, 4)).ok());
    ASSERT_TRUE(store->bind("p", 1).ok());
    ASSERT_TRUE(store->putEvent(1, pop::testing::event(1)).ok());
    ASSERT_TRUE(store->putMeta("epoch", "3").ok());
    ASSERT_TRUE(store->putRecord(RecordKind::kUser, "alice", "record").ok());
    ASSERT_TRUE(store->commit().ok());
    ASSERT_TRUE(store->putJob(jobRecord(2)).ok());
    ASSERT_TRUE(store->unbind("p").ok());
    ASSERT_TRUE(store->putMeta("epoch", "4").ok());
  }
  const auto store = pop::testing::openStore(directory_);
  EXPECT_THAT(pop::testing::jobIds(*store), ElementsAre(1));
  ASSERT_EQ(store->partitions().value().size(), 1u);
  EXPECT_EQ(store->partitions().value()[0].job, 1);
  EXPECT_THAT(store->events(1, 0, 9).value(), ElementsAre(pop::testing::event(1)));
  EXPECT_EQ(store->meta("epoch").value(), "3");
  EXPECT_EQ(store->records(RecordKind::kUser).value().size(), 1u);
}

TEST_F(StoreFileTurnsTest, AreSeenByOthersWhenTheyAreCommitted) {
  const auto store = pop::testing::openStore(directory_);
  Database reader = Database::open(directory_ + "/store.db", Database::Access::kRead).value();
  ASSERT_TRUE(store->putJob(jobRecord(1)).ok());
  EXPECT_EQ(reader.number("SELECT count(*) FROM jobs").value(), 0);
  ASSERT_TRUE(store->commit().ok());
  EXPECT_EQ(reader.number("SELECT count(*) FROM jobs").value(), 1);
  EXPECT_EQ(reader.number("SELECT submitted FROM jobs").value(), 1'700'000'001'000);
}

// A writer that holds the file for longer than the store waits: another program, against the rules.
TEST_F(StoreFileTurnsTest, AreRefusedAsAWholeWhileAnotherProgramWrites) {
  const auto store = pop::testing::openStore(directory_);
  Database other = Database::open(directory_ + "/store.db", Database::Access::kWrite).value();
  ASSERT_TRUE(other.run("BEGIN IMMEDIATE").ok());
  EXPECT_EQ(store->putJob(jobRecord(1)).code(), Code::kUnavailable);
  ASSERT_TRUE(other.run("ROLLBACK").ok());
  EXPECT_EQ(store->putJob(jobRecord(2)).code(), Code::kUnavailable) << "half a turn is none";
  EXPECT_TRUE(store->hasUncommitted());
  EXPECT_EQ(store->commit().code(), Code::kUnavailable);
  EXPECT_FALSE(store->hasUncommitted());
  ASSERT_TRUE(store->putJob(jobRecord(3)).ok());
  ASSERT_TRUE(store->commit().ok());
  EXPECT_THAT(pop::testing::jobIds(*store), ElementsAre(3));
}

// The schema forbids it to other programs too.
TEST_F(StoreFileTurnsTest, AreGuardedByTheFileItself) {
  const auto store = pop::testing::openStore(directory_);
  for (const std::int64_t job : {1, 2}) ASSERT_TRUE(store->putJob(jobRecord(job, std::to_string(job))).ok());
  ASSERT_TRUE(store->putPartition("p", "", ipus(0, 4)).ok());
  ASSERT_TRUE(store->bind("p", 1).ok());
  ASSERT_TRUE(store->commit().ok());
  Database other = Database::open(directory_ + "/store.db", Database::Access::kWrite).value();
  for (const char* const statement :
       {"INSERT INTO partition_ipus(cluster, ild, ipu, partition) VALUES('pod', 0, 3, 'q')",
        "INSERT INTO bindings(partition, job) VALUES('p', 2)",
        "INSERT INTO bindings(partition, job) VALUES('q', 1)",
        "UPDATE jobs SET request_id = '1' WHERE id = 2",
        "INSERT INTO meta(key, value) VALUES('epoch', NULL)"})
    EXPECT_FALSE(other.run(statement).ok()) << statement;
}

}  // namespace
}  // namespace pop::popdistd
