// SPDX-License-Identifier: Apache-2.0
// Damage by another program that check() finds in a store, and versions of the tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "popdistd/store/sqlite_schema.h"
#include "tests/unit/popdistd/store/store_fixture.h"

namespace pop::popdistd {
namespace {

using pop::testing::jobRecord;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StoreCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const std::int64_t job : {1, 2}) {
      ASSERT_TRUE(store_->putJob(jobRecord(job)).ok());
      for (const std::uint64_t sequence : {1u, 2u, 3u})
        ASSERT_TRUE(store_->putEvent(job, pop::testing::event(sequence)).ok());
    }
    ASSERT_TRUE(store_->putPartition("p", "record", pop::testing::ipus(0, 4)).ok());
    ASSERT_TRUE(store_->bind("p", 1).ok());
    ASSERT_TRUE(store_->putRecord(RecordKind::kHost, "h0", v1::HostRecord().SerializeAsString()).ok());
    ASSERT_TRUE(store_->commit().ok());
  }
  std::vector<std::string> findingsAfter(const std::string& statements) {
    Database other = Database::open(file_, Database::Access::kWrite).value();
    const Status status = other.script(statements);
    EXPECT_TRUE(status.ok()) << status.message();
    return store_->check().value().findings;
  }

  pop::testing::TempDir home_;
  const std::string directory_ = home_ / "state";
  const std::string file_ = directory_ + "/store.db";
  std::unique_ptr<SqliteStore> store_ = pop::testing::openStore(directory_);
};

TEST_F(StoreCheckTest, CountsWhatIsThere) {
  const StoreCheck check = store_->check().value();
  EXPECT_THAT(check.findings, IsEmpty());
  EXPECT_EQ(check.jobs, 2);
  EXPECT_EQ(check.events, 6);
  EXPECT_GT(check.bytes, 4096);
}

TEST_F(StoreCheckTest, FindsEventsAndSpecsWithoutAJob) {
  EXPECT_THAT(findingsAfter("DELETE FROM jobs WHERE id = 2"),
              ElementsAre(AllOf(HasSubstr("events of job 2"), HasSubstr("3")), HasSubstr("spec of job 2")));
}

TEST_F(StoreCheckTest, FindsIpusAndBindingsWithoutAPartition) {
  EXPECT_THAT(findingsAfter("DELETE FROM partitions; DELETE FROM partition_ipus WHERE ipu <> 3"),
              ElementsAre(AllOf(HasSubstr("partition p"), HasSubstr("pod 0 3")),
                          AllOf(HasSubstr("partition p"), HasSubstr("job 1"))));
}

TEST_F(StoreCheckTest, FindsBindingsWithoutAJob) {
  EXPECT_THAT(findingsAfter("DELETE FROM job_events; DELETE FROM job_specs; DELETE FROM jobs"),
              ElementsAre(AllOf(HasSubstr("job 1"), HasSubstr("partition p"))));
}

TEST_F(StoreCheckTest, FindsRecordsThatCannotBeRead) {
  EXPECT_THAT(
      findingsAfter("UPDATE jobs SET record = x'ff' WHERE id = 1; UPDATE jobs SET state = 3 WHERE id = 2; "
                    "UPDATE job_specs SET spec = x'ff' WHERE job = 2; UPDATE records SET record = x'ff'; "
                    "UPDATE job_events SET record = x'ff' WHERE job = 1 AND sequence = 2"),
      ElementsAre(HasSubstr("record of job 1"), HasSubstr("job 2 differs"), HasSubstr("spec of job 2"),
                  HasSubstr("event 2 of job 1"), HasSubstr("host 'h0'")));
}

TEST_F(StoreCheckTest, NamesAtMostAHundredFindings) {
  std::string statements = "BEGIN;";
  for (int job = 1000; job < 1300; ++job)
    statements += "INSERT INTO job_specs(job, spec) VALUES(" + std::to_string(job) + ", x'');";
  const std::vector<std::string> findings = findingsAfter(statements + "COMMIT");
  ASSERT_THAT(findings, SizeIs(101));
  EXPECT_THAT(findings.back(), HasSubstr("200 findings more"));
}

TEST_F(StoreCheckTest, FindsPagesThatAreDamaged) {
  for (std::int64_t job = 3; job < 2000; ++job) ASSERT_TRUE(store_->putJob(jobRecord(job)).ok());
  ASSERT_TRUE(store_->commit().ok());
  store_.reset();
  store_ = pop::testing::openStore(directory_);
  {
    std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(file_) / 4096 / 2 * 4096));
    file << std::string(4096, '\x7f');
  }
  EXPECT_THAT(store_->check().value().findings, ::testing::Not(IsEmpty()));
}

class SchemaTest : public ::testing::Test {
 protected:
  std::int64_t version() { return database_.number("PRAGMA user_version").value(); }

  Database database_ = Database::openInMemory().value();
};

constexpr std::array kOldSteps{"CREATE TABLE a(x)"};
constexpr std::array kNewSteps{"CREATE TABLE a(x)", "ALTER TABLE a ADD COLUMN y; INSERT INTO a VALUES(1, 2)",
                               "CREATE TABLE b(x)"};

TEST_F(SchemaTest, TakesTheStepsThatAreMissing) {
  ASSERT_TRUE(bringUpToDate(database_, kOldSteps).ok());
  EXPECT_EQ(version(), 1);
  for (int times = 0; times < 2; ++times) {
    ASSERT_TRUE(bringUpToDate(database_, kNewSteps).ok());
    EXPECT_EQ(version(), 3);
    EXPECT_EQ(database_.number("SELECT count(*) FROM a").value(), 1);
  }
  EXPECT_EQ(bringUpToDate(database_, kOldSteps).code(), Code::kFailedPrecondition);
  EXPECT_EQ(version(), 3);
}

TEST_F(SchemaTest, StaysAsItWasIfAStepFails) {
  ASSERT_TRUE(bringUpToDate(database_, kOldSteps).ok());
  constexpr std::array kWrongSteps{kNewSteps[0], kNewSteps[1], "CREATE TABLE a(x)"};
  EXPECT_FALSE(bringUpToDate(database_, kWrongSteps).ok());
  EXPECT_EQ(version(), 1);
  EXPECT_EQ(database_.number("SELECT count(*) FROM a").value(), 0);
  EXPECT_TRUE(bringUpToDate(database_, kNewSteps).ok());
}

}  // namespace
}  // namespace pop::popdistd
