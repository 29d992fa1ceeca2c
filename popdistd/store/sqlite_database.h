// SPDX-License-Identifier: Apache-2.0
// A connection to a SQLite file, with its statements kept, and outcomes as values. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "common/base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace pop::popdistd {

/// Bytes that are no text.
struct Blob {
  std::string_view bytes;
};

/// For a "?" of a statement; the first is NULL.
using SqlValue = std::variant<std::monostate, std::int64_t, std::string_view, Blob>;
using SqlValues = std::initializer_list<SqlValue>;

/// One row of an answer, while it is looked at.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}

  bool isNull(int column) const;
  std::int64_t integer(int column) const;
  /// The bytes of text or a blob; empty if it is NULL.
  std::string bytes(int column) const;

 private:
  sqlite3_stmt* statement_;
};

using RowReader = std::function<Status(const Row&)>;

class Database {
 public:
  enum class Access : std::uint8_t { kWrite, kRead };

  /// Opens a file that exists.
  static Result<Database> open(const std::string& path, Access access);
  static Result<Database> openInMemory();

  /// Runs one statement. Its errors are those of statusOf() (sqlite_errors.h), and it has changed nothing
  /// then.
  Status run(std::string_view sql, SqlValues values = {});
  /// Gives each row of the answer to `read`, which may not run the same statement, and ends with its first
  /// error.
  Status select(std::string_view sql, SqlValues values, const RowReader& read);
  /// The first column of the only row; kInternal if there is no row.
  Result<std::int64_t> number(std::string_view sql);
  /// The size of all its pages.
  Result<std::int64_t> bytes();
  /// Runs several statements, which are not kept.
  Status script(const std::string& sql);

  /// Runs `write` as a whole: after an error nothing of it is done. Within a transaction.
  Status atomically(const std::function<Status()>& write);
  bool inTransaction() const;

  /// For messages.
  const std::string& name() const { return name_; }

  /// For other files of this folder that call SQLite.
  sqlite3* handle() const { return connection_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  static Result<Database> openAs(const std::string& path, int flags, std::string name);
  Result<sqlite3_stmt*> prepared(std::string_view sql);
  Status bind(sqlite3_stmt* statement, SqlValues values);
  Status readRows(sqlite3_stmt* statement, const RowReader& read);
  Status error(int code) const;

  std::string name_;
  std::unique_ptr<sqlite3, Close> connection_;
  std::unordered_map<std::string, Statement> statements_;  // goes before the connection
};

}  // namespace pop::popdistd
