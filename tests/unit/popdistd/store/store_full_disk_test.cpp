// SPDX-License-Identifier: Apache-2.0
// The store on a full disk, a real one: a small tmpfs that only a child of the test sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/unit/popdistd/store/child.h"
#include "tests/unit/popdistd/store/store_fixture.h"

namespace pop::popdistd {
namespace {

using pop::testing::jobRecord;
using ::testing::IsEmpty;

v1::JobRecord largeJob(std::int64_t id) {
  v1::JobRecord job = jobRecord(id, std::to_string(id));
  popdist::v1::JobSpec spec;
  spec.set_host_subnet(std::string(20'000, 's'));
  job.set_spec(spec.SerializeAsString());
  return job;
}

// One small and one large write a turn, until the disk is full; returns how many turns were committed.
std::int64_t fill(Store& store, std::int64_t from) {
  for (std::int64_t id = from;; ++id) {
    Status status = store.putMeta("turn", std::to_string(id));
    if (status.ok()) status = store.putJob(largeJob(id));
    Status committed = store.commit();
    if (status.ok()) status = std::move(committed);
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), Code::kResourceExhausted) << status.message();
    return id - 1;
  }
}

void expectTurns(Store& store, std::int64_t turns) {
  EXPECT_EQ(store.meta("turn").value(), std::to_string(turns));
  EXPECT_EQ(pop::testing::jobIds(store).size(), static_cast<std::size_t>(turns));
  EXPECT_FALSE(store.hasUncommitted());
}

class StoreFullDiskTest : public ::testing::Test {
 protected:
  void mountSmallDisk() const { ASSERT_NO_FATAL_FAILURE(pop::testing::ownDisk(home_.path(), "size=4m")); }
  void fillDisk() const { std::ofstream(filler_) << std::string(8 << 20, 'x'); }

  pop::testing::TempDir home_;
  const std::string directory_ = home_ / "state";
  const std::string filler_ = home_ / "filler";
};

TEST_F(StoreFullDiskTest, UndoesTheTurnAndGoesOnWhenThereIsSpace) {
  pop::testing::inAChild([&] {
    ASSERT_NO_FATAL_FAILURE(mountSmallDisk());
    auto store = pop::testing::openStore(directory_);
    std::int64_t turns = 0;
    for (std::size_t round = 0; round < 3; ++round) {
      std::ofstream(filler_) << std::string((3 - round) << 20, 'x');
      turns = fill(*store, turns + 1);
      expectTurns(*store, turns);
      EXPECT_EQ(store->putJob(largeJob(1000)).code() == Code::kOk && store->commit().ok(), false);
      static_cast<void>(store->commit());
      expectTurns(*store, turns);
      std::filesystem::remove(filler_);
      ASSERT_TRUE(store->putMeta("turn", std::to_string(turns + 1)).ok());
      ASSERT_TRUE(store->putJob(largeJob(turns + 1)).ok());
      const Status status = store->commit();
      ASSERT_TRUE(status.ok()) << status.message();
      expectTurns(*store, ++turns);
    }
    store.reset();
    store = pop::testing::openStore(directory_);
    expectTurns(*store, turns);
    EXPECT_THAT(store->check().value().findings, IsEmpty());
  });
}

TEST_F(StoreFullDiskTest, SaysItWhenTheStoreIsMadeOrOpened) {
  pop::testing::inAChild([&] {
    ASSERT_NO_FATAL_FAILURE(mountSmallDisk());
    std::filesystem::create_directory(directory_);
    std::filesystem::permissions(directory_, std::filesystem::perms::owner_all);
    fillDisk();
    EXPECT_EQ(SqliteStore::open(directory_).code(), Code::kResourceExhausted);
    std::filesystem::remove(filler_);
    ASSERT_NE(pop::testing::openStore(directory_), nullptr);
    fillDisk();
    EXPECT_EQ(SqliteStore::open(directory_).code(), Code::kResourceExhausted);
    std::filesystem::remove(filler_);
    EXPECT_NE(pop::testing::openStore(directory_), nullptr);
  });
}

TEST_F(StoreFullDiskTest, LeavesNoPartOfABackup) {
  pop::testing::inAChild([&] {
    ASSERT_NO_FATAL_FAILURE(mountSmallDisk());
    const auto store = pop::testing::openStore(directory_);
    ASSERT_TRUE(store->putJob(jobRecord(1)).ok());
    ASSERT_TRUE(store->commit().ok());
    fillDisk();
    const std::string copy = home_ / "copy";
    EXPECT_EQ(store->backup(copy).code(), Code::kResourceExhausted);
    EXPECT_FALSE(std::filesystem::exists(copy));
    EXPECT_FALSE(std::filesystem::exists(copy + ".new"));
    std::filesystem::remove(filler_);
    EXPECT_TRUE(store->backup(copy).ok());
  });
}

TEST_F(StoreFullDiskTest, IsWhatALimitOnFileSizesIsLike) {
  pop::testing::inAChild([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const auto store = pop::testing::openStore(directory_);
    const rlimit limit{1'000'000, RLIM_INFINITY};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    const std::int64_t turns = fill(*store, 1);
    expectTurns(*store, turns);
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
    ASSERT_TRUE(store->putMeta("turn", std::to_string(turns + 1)).ok());
    ASSERT_TRUE(store->putJob(largeJob(turns + 1)).ok());
    ASSERT_TRUE(store->commit().ok());
    expectTurns(*store, turns + 1);
  });
}

}  // namespace
}  // namespace pop::popdistd
