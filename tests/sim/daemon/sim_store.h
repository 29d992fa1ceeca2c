// SPDX-License-Identifier: Apache-2.0
// The store of a simulated daemon: a real one on a disk in memory. It loses a turn when it is told to.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "popdistd/store/sqlite_store.h"
#include "tests/sim/daemon/job_ledger.h"

namespace pop::popdistd::testing {

class SimStore final : public Store {
 public:
  /// `ledger` outlives it.
  SimStore(std::string directory, JobLedger& ledger)
      : directory_(std::move(directory)), ledger_(ledger), disk_(open()) {}

  /// The next commit fails, as on a full disk: nothing of its turn is kept.
  void failNextCommit() { fails_ = true; }

  Status putJob(const v1::JobRecord& job) override {
    Status kept = disk_->putJob(job);
    if (kept.ok()) ledger_.wrote(job.info());
    return kept;
  }
  Status removeJob(std::int64_t job) override {
    Status removed = disk_->removeJob(job);
    if (removed.ok()) ledger_.removed(job);
    return removed;
  }
  Status commit() override {
    if (std::exchange(fails_, false)) {
      ledger_.undone();
      disk_ = nullptr;
      disk_ = open();
      return {Code::kResourceExhausted, "the disk is full"};
    }
    Status done = disk_->commit();
    done.ok() ? ledger_.committed() : ledger_.undone();
    return done;
  }

  Result<std::optional<std::string>> meta(std::string_view key) override { return disk_->meta(key); }
  Result<std::vector<v1::JobRecord>> jobs() override { return disk_->jobs(); }
  Result<std::vector<StoredEvent>> events(std::int64_t job, std::uint64_t from, std::size_t most) override {
    return disk_->events(job, from, most);
  }
  Result<std::vector<NamedRecord>> records(RecordKind kind) override { return disk_->records(kind); }
  Result<std::vector<StoredPartition>> partitions() override { return disk_->partitions(); }
  Result<std::vector<StoredAudit>> audit(std::int64_t from, std::size_t most) override {
    return disk_->audit(from, most);
  }
  Result<std::int64_t> lastAudit() override { return disk_->lastAudit(); }
  Result<std::vector<StoredUsage>> usage() override { return disk_->usage(); }
  Status putMeta(std::string_view key, std::string_view value) override { return disk_->putMeta(key, value); }
  Status putEvent(std::int64_t job, const StoredEvent& event) override { return disk_->putEvent(job, event); }
  Status putRecord(RecordKind kind, std::string_view name, std::string_view bytes) override {
    return disk_->putRecord(kind, name, bytes);
  }
  Status removeRecord(RecordKind kind, std::string_view name) override {
    return disk_->removeRecord(kind, name);
  }
  Status putPartition(std::string_view id, std::string_view bytes, std::span<const IpuKey> ipus) override {
    return disk_->putPartition(id, bytes, ipus);
  }
  Status removePartition(std::string_view id) override { return disk_->removePartition(id); }
  Status bind(std::string_view partition, std::int64_t job) override { return disk_->bind(partition, job); }
  Status unbind(std::string_view partition) override { return disk_->unbind(partition); }
  Status putUsage(const StoredUsage& usage) override { return disk_->putUsage(usage); }
  Status putAudit(std::int64_t id, std::string_view user, std::string_view bytes) override {
    return disk_->putAudit(id, user, bytes);
  }
  bool hasUncommitted() const override { return disk_->hasUncommitted(); }
  Status backup(const std::string& path) override { return disk_->backup(path); }
  Result<StoreCheck> check() override { return disk_->check(); }
  Result<std::int64_t> bytes() override { return disk_->bytes(); }

 private:
  std::unique_ptr<SqliteStore> open() const {
    Result<std::unique_ptr<SqliteStore>> opened = SqliteStore::open(directory_);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return std::move(*opened);
  }

  const std::string directory_;
  JobLedger& ledger_;
  bool fails_ = false;
  std::unique_ptr<SqliteStore> disk_;
};

}  // namespace pop::popdistd::testing
