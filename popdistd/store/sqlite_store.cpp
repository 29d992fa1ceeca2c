// SPDX-License-Identifier: Apache-2.0
// The turn's transaction, and what is kept by a name. Jobs: sqlite_jobs.cpp, partitions:
// sqlite_partitions.cpp, backup() and check(): files of their names.
#include "popdistd/store/sqlite_store.h"

#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"
#include "popdistd/store/log_sequence.h"
#include "popdistd/store/sqlite_errors.h"
#include "popdistd/store/sqlite_file.h"
#include "popdistd/store/sqlite_schema.h"
#include "popdistd/store/state_directory.h"

namespace pop::popdistd {
namespace {

std::string_view nameOf(RecordKind kind) {
  switch (kind) {
    case RecordKind::kHost:
      return "host";
    case RecordKind::kCluster:
      return "cluster";
    case RecordKind::kAgent:
      return "agent";
    case RecordKind::kAllocation:
      return "allocation";
    case RecordKind::kUser:
      return "user";
    case RecordKind::kToken:
      return "token";
    case RecordKind::kQuota:
      return "quota";
  }
  POP_CHECK(!"a kind without a name");
  return {};
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& directory) {
  POP_ASSIGN_OR_RETURN(sys::Fd lock, takeStateDirectory(directory));
  const std::string path = directory + "/store.db";
  POP_ASSIGN_OR_RETURN(Database database, openStoreFile(path));
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(lock), std::move(database), path));
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::inMemory() {
  POP_ASSIGN_OR_RETURN(Database database, Database::openInMemory());
  POP_RETURN_IF_ERROR(database.script("PRAGMA foreign_keys = ON"));
  POP_RETURN_IF_ERROR(bringUpToDate(database));
  return std::unique_ptr<SqliteStore>(new SqliteStore({}, std::move(database), {}));
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::replica(sys::Fd lock, Database database, std::string path,
                                                          std::unique_ptr<ChangeLog> log) {
  std::unique_ptr<SqliteStore> store(new SqliteStore(std::move(lock), std::move(database), std::move(path)));
  POP_ASSIGN_OR_RETURN(store->sequence_, logSequence(store->database_));
  store->log_ = std::move(log);
  return store;
}

Status SqliteStore::beginTurn() {
  POP_RETURN_IF_ERROR(database_.run("BEGIN IMMEDIATE"));
  if (!log_) return {};
  POP_ASSIGN_OR_RETURN(recorder_, ChangeRecorder::begin(database_));
  return {};
}

Status SqliteStore::write(const std::function<Status()>& write) {
  POP_RETURN_IF_ERROR(failed_);
  if (!database_.inTransaction()) {
    Status begun = beginTurn();
    if (!begun.ok()) return failTurn(std::move(begun));
  }
  Status status = write();
  if (status.ok() || (isRefusal(status) && database_.inTransaction())) return status;
  return failTurn(std::move(status));
}

// SQLite may have rolled back itself. Whether it has or not, nothing of the turn may remain: later writes of
// the turn alone would be half of it.
Status SqliteStore::failTurn(Status status) {
  recorder_.reset();
  if (database_.inTransaction()) (void)database_.run("ROLLBACK");
  failed_ = status;
  return status;
}

Status SqliteStore::commit() {
  if (!failed_.ok()) return std::exchange(failed_, Status());
  if (!database_.inTransaction()) return {};
  if (!recorder_ || recorder_->isEmpty()) {
    recorder_.reset();
    return commitHere();
  }
  Status status = commitByLog();
  recorder_.reset();
  if (!status.ok() && database_.inTransaction()) (void)database_.run("ROLLBACK");
  return status;
}

// A change in the log counts, whatever becomes of this file.
Status SqliteStore::commitByLog() {
  POP_RETURN_IF_ERROR(setLogSequence(database_, sequence_ + 1));
  POP_ASSIGN_OR_RETURN(const std::string changes, recorder_->changes());
  POP_RETURN_IF_ERROR(log_->append(sequence_ + 1, changes));
  ++sequence_;
  Status status = commitHere();
  status.ok() ? log_->kept(sequence_, changes.size()) : log_->diverged(status);
  return status;
}

Status SqliteStore::commitHere() {
  Status status = database_.run("COMMIT");
  if (!status.ok() && database_.inTransaction()) (void)database_.run("ROLLBACK");
  return status;
}

Status SqliteStore::lookAtCommitted(const std::function<Status(Database&)>& look) {
  if (!path_.empty()) {
    POP_ASSIGN_OR_RETURN(Database reader, Database::open(path_, Database::Access::kRead));
    return look(reader);
  }
  if (hasUncommitted()) return failedPrecondition("a store in memory can be looked at between turns only");
  return look(database_);
}

Result<std::optional<std::string>> SqliteStore::meta(std::string_view key) {
  std::optional<std::string> value;
  POP_RETURN_IF_ERROR(database_.select("SELECT value FROM meta WHERE key = ?", {key}, [&](const Row& row) {
    value = row.bytes(0);
    return Status();
  }));
  return value;
}

Status SqliteStore::putMeta(std::string_view key, std::string_view value) {
  return write([&] {
    return database_.run(
        "INSERT INTO meta(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        {key, value});
  });
}

Result<std::vector<NamedRecord>> SqliteStore::records(RecordKind kind) {
  std::vector<NamedRecord> records;
  const auto read = [&](const Row& row) {
    records.push_back({row.bytes(0), row.bytes(1)});
    return Status();
  };
  POP_RETURN_IF_ERROR(database_.select("SELECT name, record FROM records WHERE kind = ? ORDER BY name",
                                       {nameOf(kind)}, read));
  return records;
}

Status SqliteStore::putRecord(RecordKind kind, std::string_view name, std::string_view bytes) {
  return write([&] {
    return database_.run(
        "INSERT INTO records(kind, name, record) VALUES(?, ?, ?) "
        "ON CONFLICT(kind, name) DO UPDATE SET record = excluded.record",
        {nameOf(kind), name, Blob{bytes}});
  });
}

Status SqliteStore::removeRecord(RecordKind kind, std::string_view name) {
  return write([&] {
    return database_.run("DELETE FROM records WHERE kind = ? AND name = ?", {nameOf(kind), name});
  });
}

Result<std::vector<StoredUsage>> SqliteStore::usage() {
  std::vector<StoredUsage> usage;
  const auto read = [&](const Row& row) {
    usage.push_back({row.bytes(0), row.integer(1), row.integer(2)});
    return Status();
  };
  POP_RETURN_IF_ERROR(database_.select("SELECT user, amount_ms, at_ms FROM usage ORDER BY user", {}, read));
  return usage;
}

Status SqliteStore::putUsage(const StoredUsage& usage) {
  if (usage.amount_ms < 0 || usage.user.empty())
    return invalidArgument("user " + inQuotes(usage.user) + " cannot have used " +
                           std::to_string(usage.amount_ms) + " ms");
  return write([&] {
    return database_.run(
        "INSERT INTO usage(user, amount_ms, at_ms) VALUES(?, ?, ?) "
        "ON CONFLICT(user) DO UPDATE SET amount_ms = excluded.amount_ms, at_ms = excluded.at_ms",
        {std::string_view(usage.user), usage.amount_ms, usage.at_ms});
  });
}

}  // namespace pop::popdistd
