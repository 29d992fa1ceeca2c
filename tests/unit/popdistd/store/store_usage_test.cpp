// SPDX-License-Identifier: Apache-2.0
// Users' usage: kept, replaced, refused when it cannot be; and the store of a daemon that knew nothing of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "popdistd/store/sqlite_schema.h"
#include "tests/unit/popdistd/store/store_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StoreUsageTest : public pop::testing::StoreTest {};
INSTANTIATE_TEST_SUITE_P(Both, StoreUsageTest, pop::testing::kPlaces, pop::testing::placeName);

TEST_P(StoreUsageTest, TheLastOfEachUserIsKept) {
  EXPECT_TRUE(store_->putUsage({"bob", 5, 10}).ok());
  EXPECT_TRUE(store_->putUsage({"alice", 7, 10}).ok());
  EXPECT_TRUE(store_->putUsage({"bob", 6, 20}).ok());
  commit();
  EXPECT_THAT(store_->usage().value(), ElementsAre(StoredUsage{"alice", 7, 10}, StoredUsage{"bob", 6, 20}));
}

TEST_P(StoreUsageTest, LessThanNothingIsRefusedAndTheTurnGoesOn) {
  EXPECT_EQ(store_->putUsage({"bob", -1, 10}).code(), Code::kInvalidArgument);
  EXPECT_EQ(store_->putUsage({"", 1, 10}).code(), Code::kInvalidArgument);
  EXPECT_TRUE(store_->putUsage({"bob", 1, 10}).ok());
  commit();
  EXPECT_EQ(store_->usage().value().size(), 1U);
}

TEST(StoreUsageCheckTest, FindsWhatTheSchemaForbids) {
  pop::testing::TempDir home;
  const std::string directory = home / "state";
  const std::unique_ptr<SqliteStore> store = pop::testing::openStore(directory);
  ASSERT_TRUE(store->putUsage({"bob", 1, 10}).ok());
  ASSERT_TRUE(store->putRecord(RecordKind::kQuota, "user bob", v1::QuotaRecord().SerializeAsString()).ok());
  ASSERT_TRUE(store->commit().ok());
  Database other = Database::open(directory + "/store.db", Database::Access::kWrite).value();
  EXPECT_FALSE(other.script("UPDATE usage SET amount_ms = -1").ok());
  ASSERT_TRUE(other
                  .script("PRAGMA ignore_check_constraints = ON; UPDATE usage SET amount_ms = -1; "
                          "UPDATE records SET record = x'ff'")
                  .ok());
  EXPECT_THAT(store->check().value().findings,
              ::testing::IsSupersetOf(
                  {HasSubstr("quota of user bob"), HasSubstr("'bob' has used less than nothing")}));
}

TEST(StoreUsageCheckTest, AnOlderStoreGetsTheTable) {
  Database database = Database::openInMemory().value();
  ASSERT_TRUE(bringUpToDate(database, schemaSteps().first(1)).ok());
  ASSERT_TRUE(database.script("INSERT INTO meta VALUES('epoch', '7')").ok());
  ASSERT_TRUE(bringUpToDate(database).ok());
  EXPECT_EQ(database.number("SELECT count(*) FROM usage").value(), 0);
  EXPECT_EQ(database.number("SELECT count(*) FROM meta").value(), 1);
}

}  // namespace
}  // namespace pop::popdistd
