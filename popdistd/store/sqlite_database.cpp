// SPDX-License-Identifier: Apache-2.0
#include "popdistd/store/sqlite_database.h"

#include <sqlite3.h>

#include <optional>
#include <utility>

#include "common/base/check.h"
#include "popdistd/store/sqlite_errors.h"

namespace pop::popdistd {
namespace {

// A look from outside holds a lock for moments; the loop waits no longer.
constexpr int kBusyWait_ms = 1000;

// Bound data stays where it is until the statement has run. SQLite takes a null pointer for NULL, which text
// and bytes without any are not.
const char* dataOf(std::string_view bytes) {
  return bytes.data() == nullptr ? "" : bytes.data();
}

int bindValue(sqlite3_stmt* statement, int index, const SqlValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value))
    return ::sqlite3_bind_int64(statement, index, *number);
  if (const auto* text = std::get_if<std::string_view>(&value))
    return ::sqlite3_bind_text64(statement, index, dataOf(*text), text->size(), SQLITE_STATIC, SQLITE_UTF8);
  if (const auto* blob = std::get_if<Blob>(&value))
    return ::sqlite3_bind_blob64(statement, index, dataOf(blob->bytes), blob->bytes.size(), SQLITE_STATIC);
  return ::sqlite3_bind_null(statement, index);
}

}  // namespace

bool Row::isNull(int column) const {
  return ::sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Row::integer(int column) const {
  return ::sqlite3_column_int64(statement_, column);
}

std::string Row::bytes(int column) const {
  const void* bytes = ::sqlite3_column_blob(statement_, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(::sqlite3_column_bytes(statement_, column))};
}

void Database::Close::operator()(sqlite3* connection) const {
  ::sqlite3_close_v2(connection);
}
void Database::Close::operator()(sqlite3_stmt* statement) const {
  ::sqlite3_finalize(statement);
}

Result<Database> Database::open(const std::string& path, Access access) {
  return openAs(path, access == Access::kWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, path);
}

Result<Database> Database::openInMemory() {
  // Not by SQLITE_OPEN_MEMORY, which would keep its copies in memory too.
  return openAs(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "the store in memory");
}

Result<Database> Database::openAs(const std::string& path, int flags, std::string name) {
  Database database;
  database.name_ = std::move(name);
  sqlite3* connection = nullptr;
  const int opened = ::sqlite3_open_v2(path.c_str(), &connection,
                                       flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  database.connection_.reset(connection);
  if (opened != SQLITE_OK) return database.error(opened);
  ::sqlite3_busy_timeout(connection, kBusyWait_ms);
  return database;
}

Status Database::run(std::string_view sql, SqlValues values) {
  return select(sql, values, [](const Row&) { return Status(); });
}

Status Database::select(std::string_view sql, SqlValues values, const RowReader& read) {
  POP_ASSIGN_OR_RETURN(sqlite3_stmt* const statement, prepared(sql));
  POP_CHECK(::sqlite3_stmt_busy(statement) == 0);
  Status status = bind(statement, values);
  if (status.ok()) status = readRows(statement, read);
  ::sqlite3_reset(statement);  // repeats the error that is known
  ::sqlite3_clear_bindings(statement);
  return status;
}

Result<std::int64_t> Database::number(std::string_view sql) {
  std::optional<std::int64_t> result;
  POP_RETURN_IF_ERROR(select(sql, {}, [&result](const Row& row) {
    result = row.integer(0);
    return Status();
  }));
  if (!result) return internalError(name_ + " does not answer " + std::string(sql));
  return *result;
}

Result<std::int64_t> Database::bytes() {
  POP_ASSIGN_OR_RETURN(const std::int64_t pages, number("PRAGMA page_count"));
  POP_ASSIGN_OR_RETURN(const std::int64_t page_bytes, number("PRAGMA page_size"));
  return pages * page_bytes;
}

Status Database::script(const std::string& sql) {
  const int code = ::sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : error(code);
}

Status Database::atomically(const std::function<Status()>& write) {
  POP_RETURN_IF_ERROR(run("SAVEPOINT whole"));
  Status status = write();
  // A full disk has ended the transaction, and the savepoint with it.
  if (!status.ok() && !inTransaction()) return status;
  if (!status.ok()) POP_RETURN_IF_ERROR(run("ROLLBACK TO whole"));
  POP_RETURN_IF_ERROR(run("RELEASE whole"));
  return status;
}

bool Database::inTransaction() const {
  return ::sqlite3_get_autocommit(connection_.get()) == 0;
}

Result<sqlite3_stmt*> Database::prepared(std::string_view sql) {
  std::string key(sql);
  const auto found = statements_.find(key);
  if (found != statements_.end()) return found->second.get();
  sqlite3_stmt* statement = nullptr;
  const int code = ::sqlite3_prepare_v3(connection_.get(), key.c_str(), static_cast<int>(key.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return error(code);
  statements_.emplace(std::move(key), Statement(statement));
  return statement;
}

Status Database::bind(sqlite3_stmt* statement, SqlValues values) {
  POP_CHECK(::sqlite3_bind_parameter_count(statement) == static_cast<int>(values.size()));
  int index = 0;
  for (const SqlValue& value : values) {
    if (const int code = bindValue(statement, ++index, value); code != SQLITE_OK) return error(code);
  }
  return {};
}

Status Database::readRows(sqlite3_stmt* statement, const RowReader& read) {
  while (true) {
    const int code = ::sqlite3_step(statement);
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) return error(code);
    POP_RETURN_IF_ERROR(read(Row(statement)));
  }
}

Status Database::error(int code) const {
  return statusOf(connection_.get(), code, name_);
}

}  // namespace pop::popdistd
