// SPDX-License-Identifier: Apache-2.0
// Parts that only a store in etcd has: its leaders, its log and its snapshots.
#include "popdistd/store/etcd_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "common/base/text.h"
#include "tests/testing/etcd_server.h"
#include "tests/testing/process_tree.h"
#include "tests/unit/popdistd/store/etcd_stores.h"
#include "tests/unit/popdistd/store/store_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::jobRecord;
using testing::lead;
using testing::Leader;

class EtcdStoreTest : public ::testing::Test {
 protected:
  std::string directory(const std::string& name) const { return home_ / name; }
  static void putJobs(Store& store, std::int64_t first, std::int64_t last) {
    for (std::int64_t job = first; job <= last; ++job) {
      ASSERT_TRUE(store.putJob(jobRecord(job)).ok());
      ASSERT_TRUE(store.putEvent(job, testing::event(1)).ok());
      const Status committed = store.commit();
      ASSERT_TRUE(committed.ok()) << committed.message();
    }
  }

  const testing::TempDir home_;
  const std::string prefix_ = testing::ownPrefix();
};

TEST_F(EtcdStoreTest, ItsNextLeaderHasWhatWasCommitted) {
  {
    const auto first = lead(prefix_, directory("a"));
    putJobs(*first->store, 1, 3);
    ASSERT_TRUE(first->store->removeJob(2).ok());
    ASSERT_TRUE(first->store->commit().ok());
    ASSERT_TRUE(first->store->putJob(jobRecord(4)).ok());
  }
  const auto second = lead(prefix_, directory("b"));
  EXPECT_THAT(testing::jobIds(*second->store), ElementsAre(1, 3));
  putJobs(*second->store, 4, 4);
  EXPECT_THAT(second->losses, IsEmpty());
}

TEST_F(EtcdStoreTest, NothingOfADeposedLeaderIsWritten) {
  const auto first = lead(prefix_, directory("a"));
  putJobs(*first->store, 1, 1);
  first->depose();
  const auto second = lead(prefix_, directory("b"));
  putJobs(*second->store, 2, 2);
  ASSERT_TRUE(first->store->putJob(jobRecord(7)).ok());
  EXPECT_EQ(first->store->commit().code(), Code::kAborted);
  EXPECT_EQ(first->losses.size(), 1u);
  EXPECT_THAT(testing::jobIds(*first->store), ElementsAre(1)) << "nor is it kept here";
  second->leadership.reset();
  EXPECT_THAT(testing::jobIds(*lead(prefix_, directory("c"))->store), ElementsAre(1, 2));
}

// Not even where no other leads yet.
TEST_F(EtcdStoreTest, ALeaderWithoutItsKeyIsDeposed) {
  const auto first = lead(prefix_, directory("a"));
  first->depose();
  ASSERT_TRUE(first->store->putJob(jobRecord(7)).ok());
  EXPECT_EQ(first->store->commit().code(), Code::kAborted);
  EXPECT_EQ(first->losses.size(), 1u);
}

TEST_F(EtcdStoreTest, LargeChangesGoInParts) {
  std::string spec(5'000'000, 'x');
  for (std::size_t i = 0; i < spec.size(); ++i) spec[i] = static_cast<char>('a' + i * 7919 % 26);
  {
    const auto first = lead(prefix_, directory("a"), 1 << 30);
    v1::JobRecord job = jobRecord(1);
    job.set_spec(spec);
    ASSERT_TRUE(first->store->putJob(job).ok());
    const Status committed = first->store->commit();
    ASSERT_TRUE(committed.ok()) << committed.message();
    EXPECT_EQ(testing::keysIn(*first->etcd, prefix_ + "/parts/").size(), 5u);
    EXPECT_EQ(testing::keysIn(*first->etcd, prefix_ + "/log/").size(), 1u);
  }
  const auto second = lead(prefix_, directory("b"));
  EXPECT_EQ(second->store->jobs().value().at(0).spec(), spec);
}

TEST_F(EtcdStoreTest, SnapshotsReplaceTheLog) {
  constexpr std::int64_t kSmall = 30'000;
  std::vector<std::string> rows;
  {
    const auto first = lead(prefix_, directory("a"), kSmall);
    const std::vector<std::string> at_first = testing::keysIn(*first->etcd, prefix_ + "/snapshots/");
    const auto has_other_snapshot = [&] {
      const auto now = testing::keysIn(*first->etcd, prefix_ + "/snapshots/");
      return !now.empty() && now != at_first && testing::keysIn(*first->etcd, prefix_ + "/log/").size() < 100;
    };
    putJobs(*first->store, 1, 120);
    EXPECT_TRUE(testing::waitUntil(has_other_snapshot, testing::Milliseconds(10000)));
    for (std::int64_t job = 1; job <= 20; ++job) ASSERT_TRUE(first->store->removeJob(job).ok());
    ASSERT_TRUE(first->store->commit().ok());
    EXPECT_THAT(first->losses, IsEmpty());
    rows = testing::rowsOf(directory("a") + "/replica.db");
  }
  const auto second = lead(prefix_, directory("b"));
  EXPECT_EQ(testing::rowsOf(directory("b") + "/replica.db"), rows);
  EXPECT_EQ(second->store->jobs().value().size(), 100u);
}

TEST_F(EtcdStoreTest, ADamagedLogIsNotRead) {
  {
    const auto first = lead(prefix_, directory("a"));
    putJobs(*first->store, 1, 3);
    EtcdTransaction damage;
    damage.removes = {{testing::keysIn(*first->etcd, prefix_ + "/log/").at(1), {}}};
    ASSERT_TRUE(first->etcd->transact(damage, Clock::now() + std::chrono::seconds(5)).value().done);
  }
  EtcdClient etcd({.addresses = {testing::sharedEtcd().address()}, .tls = {}});
  const auto leadership = Leadership::tryToTake(etcd, prefix_, {}, nullptr).value();
  const auto store = openEtcdStore({etcd, prefix_, leadership->fence()}, sys::Fd(), home_.path());
  EXPECT_EQ(store.code(), Code::kDataLoss);
}

// A store of one popdistd becomes that of several.
TEST_F(EtcdStoreTest, WithoutItsHeadItIsNoNewStore) {
  std::vector<std::string> keys;
  {
    const auto first = lead(prefix_, directory("a"));
    putJobs(*first->store, 1, 3);
    EtcdTransaction damage;
    damage.removes = {{prefix_ + "/snapshot", {}}};
    ASSERT_TRUE(first->etcd->transact(damage, Clock::now() + std::chrono::seconds(5)).value().done);
    keys = testing::keysIn(*first->etcd, prefix_ + "/log/");
  }
  EtcdClient etcd({.addresses = {testing::sharedEtcd().address()}, .tls = {}});
  const auto leadership = Leadership::tryToTake(etcd, prefix_, {}, nullptr).value();
  const auto store = openEtcdStore({etcd, prefix_, leadership->fence()}, sys::Fd(), home_.path());
  EXPECT_EQ(store.code(), Code::kDataLoss);
  EXPECT_FALSE(keys.empty());
  EXPECT_EQ(testing::keysIn(etcd, prefix_ + "/log/"), keys) << "nothing is removed";
}

TEST_F(EtcdStoreTest, AnEmptyEtcdTakesOverTheDirectorysStore) {
  {
    const auto alone = testing::openStore(directory("a"));
    putJobs(*alone, 1, 2);
  }
  {
    const auto first = lead(prefix_, directory("a"));
    EXPECT_THAT(testing::jobIds(*first->store), ElementsAre(1, 2));
    putJobs(*first->store, 3, 3);
    EXPECT_FALSE(std::filesystem::exists(directory("a") + "/store.db")) << "it is of the past now";
  }
  EXPECT_THAT(testing::jobIds(*lead(prefix_, directory("b"))->store), ElementsAre(1, 2, 3));
}

// The same as with a full disk: none of it is there, and the next commit may go well.
TEST_F(EtcdStoreTest, AFullEtcdRefusesAndNothingIsLost) {
  testing::EtcdServer small(4 << 20);
  EtcdClient etcd({.addresses = {small.address()}, .tls = {}});
  const auto leadership = Leadership::tryToTake(etcd, prefix_, {}, nullptr).value();
  std::vector<Status> losses;
  Fence fence = leadership->fence();
  fence.lost = [&](const Status& why) { losses.push_back(why); };
  std::filesystem::create_directory(directory("a"));
  const auto store = openEtcdStore({etcd, prefix_, fence, 1 << 30}, sys::Fd(), directory("a"));
  ASSERT_TRUE(store.ok()) << store.status().message();
  Status committed;
  std::int64_t job = 0;
  while (committed.ok() && ++job < 30) {
    v1::JobRecord record = jobRecord(job);
    record.set_spec(std::string(900'000, 'x'));
    ASSERT_TRUE(store.value()->putJob(record).ok());
    committed = store.value()->commit();
  }
  EXPECT_EQ(committed.code(), Code::kResourceExhausted) << committed.message();
  EXPECT_EQ(testing::jobIds(*store.value()).size(), static_cast<std::size_t>(job - 1));
  EXPECT_THAT(losses, IsEmpty());
}

}  // namespace
}  // namespace pop::popdistd
