// SPDX-License-Identifier: Apache-2.0
// Stores to test, and what is put into them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "popdistd/store/sqlite_store.h"
#include "proto/popdist/v1/job.pb.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {

inline popdistd::v1::JobRecord jobRecord(std::int64_t id, const std::string& request_id = "") {
  popdistd::v1::JobRecord job;
  job.mutable_info()->set_id(id);
  job.mutable_info()->set_name("train-" + std::to_string(id));
  job.mutable_info()->set_user("alice");
  job.mutable_info()->mutable_submitted()->set_seconds(1'700'000'000 + id);
  popdist::v1::JobSpec spec;
  spec.set_host_subnet("10.0.0." + std::to_string(id) + "/24");
  job.set_spec(spec.SerializeAsString());
  job.set_request_id(request_id);
  return job;
}

inline popdistd::v1::JobRecord ended(popdistd::v1::JobRecord job) {
  job.mutable_info()->set_state(popdist::v1::JOB_ENDED);
  job.mutable_info()->set_end(popdist::v1::END_SUCCEEDED);
  job.mutable_info()->mutable_ended()->set_seconds(1'700'001'000);
  return job;
}

/// An event of the kind that runners send.
inline popdistd::StoredEvent event(std::uint64_t sequence) {
  popdist::v1::JobEvent event;
  event.mutable_said()->set_line("event " + std::to_string(sequence));
  return {sequence, event.SerializeAsString()};
}

/// The `count` IPUs from `first` on of one domain.
inline std::vector<popdistd::IpuKey> ipus(int first, int count) {
  std::vector<popdistd::IpuKey> result;
  for (int ipu = first; ipu < first + count; ++ipu) result.push_back({"pod", 0, ipu});
  return result;
}

inline std::unique_ptr<popdistd::SqliteStore> openStore(const std::string& directory) {
  Result<std::unique_ptr<popdistd::SqliteStore>> store = popdistd::SqliteStore::open(directory);
  EXPECT_TRUE(store.ok()) << store.status().message();
  return store.ok() ? std::move(store).value() : nullptr;
}

inline std::vector<std::int64_t> jobIds(popdistd::Store& store) {
  const std::vector<popdistd::v1::JobRecord> jobs = store.jobs().value();
  std::vector<std::int64_t> ids;
  for (const popdistd::v1::JobRecord& job : jobs) ids.push_back(job.info().id());
  return ids;
}

enum class Place { kDisk, kMemory, kEtcd };

#ifdef POP_STORE_IN_ETCD
inline const auto kPlaces = ::testing::Values(Place::kEtcd);
#else
inline const auto kPlaces = ::testing::Values(Place::kDisk, Place::kMemory);
#endif

/// A store of the test's in etcd, and what is in it, read anew. Defined where there is an etcd.
std::unique_ptr<popdistd::SqliteStore> openStoreInEtcd(const std::string& directory);
void expectSameInEtcd(const std::string& directory, const std::string& other);

/// The contract of every store, wherever it is.
class StoreTest : public ::testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    store_ = open();
    ASSERT_NE(store_, nullptr);
  }
  // The next leader has the same rows.
  void TearDown() override {
#ifdef POP_STORE_IN_ETCD
    if (store_ != nullptr) expectSameInEtcd(directory(), home_ / "other");
#endif
  }
  std::unique_ptr<popdistd::SqliteStore> open() const {
#ifdef POP_STORE_IN_ETCD
    return openStoreInEtcd(directory());
#else
    return GetParam() == Place::kDisk ? openStore(directory()) : popdistd::SqliteStore::inMemory().value();
#endif
  }
  void put(const popdistd::v1::JobRecord& job) {
    const Status status = store_->putJob(job);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  void commit() {
    const Status status = store_->commit();
    EXPECT_TRUE(status.ok()) << status.message();
  }
  std::string directory() const {
    return home_ / "state";
  }

  TempDir home_;
  std::unique_ptr<popdistd::SqliteStore> store_;
};

inline std::string placeName(const ::testing::TestParamInfo<Place>& info) {
  return info.param == Place::kDisk ? "OnDisk" : info.param == Place::kMemory ? "InMemory" : "InEtcd";
}

}  // namespace pop::testing
