// SPDX-License-Identifier: Apache-2.0
// The store as a SQLite file, store.db in the daemon's state directory: rows with the columns that are
// searched and protobuf bytes. One thread, but for backup() and check().
//
// The first write of a turn begins the transaction that commit() ends. A write that is refused leaves the
// turn as it was; one that fails (no space, a damaged file) undoes the turn: further writes and commit() have
// that error too, then a new turn begins.
//
// With a log, commit() gives it the turn's changes first, and the file need not survive this machine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "common/sys/fd.h"
#include "popdistd/common/store.h"
#include "popdistd/store/change_log.h"
#include "popdistd/store/sqlite_changes.h"
#include "popdistd/store/sqlite_database.h"

namespace pop::popdistd {

class SqliteStore final : public Store {
 public:
  /// Opens the store of a state directory, or makes both, and keeps others from opening it.
  /// kAlreadyExists: another popdistd has it. kPermissionDenied: it cannot be written, or others may.
  /// kFailedPrecondition: a newer popdistd, or another program, has written it. kDataLoss: it is damaged.
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& directory);

  /// The same without a disk: what is committed lives as long as the object.
  static Result<std::unique_ptr<SqliteStore>> inMemory();

  /// The copy of a store whose truth is elsewhere: a file that openStoreFile() has opened, with all that is
  /// in `log`. `lock`: takeStateDirectory().
  static Result<std::unique_ptr<SqliteStore>> replica(sys::Fd lock, Database database, std::string path,
                                                      std::unique_ptr<ChangeLog> log);

  Result<std::optional<std::string>> meta(std::string_view key) override;
  Result<std::vector<v1::JobRecord>> jobs() override;
  Result<std::vector<StoredEvent>> events(std::int64_t job, std::uint64_t from_sequence,
                                          std::size_t most) override;
  Result<std::vector<NamedRecord>> records(RecordKind kind) override;
  Result<std::vector<StoredPartition>> partitions() override;
  Result<std::vector<StoredAudit>> audit(std::int64_t from, std::size_t most) override;
  Result<std::int64_t> lastAudit() override;
  Result<std::vector<StoredUsage>> usage() override;

  Status putMeta(std::string_view key, std::string_view value) override;
  Status putJob(const v1::JobRecord& job) override;
  Status removeJob(std::int64_t job) override;
  Status putEvent(std::int64_t job, const StoredEvent& event) override;
  Status putRecord(RecordKind kind, std::string_view name, std::string_view bytes) override;
  Status removeRecord(RecordKind kind, std::string_view name) override;
  Status putPartition(std::string_view id, std::string_view bytes, std::span<const IpuKey> ipus) override;
  Status removePartition(std::string_view id) override;
  Status bind(std::string_view partition, std::int64_t job) override;
  Status unbind(std::string_view partition) override;
  Status putAudit(std::int64_t id, std::string_view user, std::string_view bytes) override;
  Status putUsage(const StoredUsage& usage) override;

  Status commit() override;
  bool hasUncommitted() const override { return !failed_.ok() || database_.inTransaction(); }

  /// Both see what is committed, by a connection of their own: any thread may call them, while the loop goes
  /// on. In memory there is no other connection: kFailedPrecondition within a turn.
  Status backup(const std::string& path) override;
  Result<StoreCheck> check() override;
  Result<std::int64_t> bytes() override { return database_.bytes(); }

 private:
  SqliteStore(sys::Fd lock, Database database, std::string path)
      : lock_(std::move(lock)), path_(std::move(path)), database_(std::move(database)) {}

  // Within the turn's transaction; decides by the error whether the turn goes on.
  Status write(const std::function<Status()>& write);
  Status failTurn(Status status);
  Status beginTurn();
  Status commitHere();
  Status commitByLog();
  // Runs `look` on what is committed.
  Status lookAtCommitted(const std::function<Status(Database&)>& look);

  sys::Fd lock_;      // goes after the database
  std::string path_;  // empty: in memory
  Database database_;
  Status failed_;                           // the error that has undone this turn
  std::unique_ptr<ChangeLog> log_;          // null: the file is all there is
  std::int64_t sequence_ = 0;               // of the last entry in the log
  std::optional<ChangeRecorder> recorder_;  // of this turn; goes before the database
};

}  // namespace pop::popdistd
