// SPDX-License-Identifier: Apache-2.0
// The changes of a transaction, as bytes that do the same to another copy of the database.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "popdistd/store/sqlite_database.h"

struct sqlite3_session;

namespace pop::popdistd {

/// Records from its making on. It goes before the database.
class ChangeRecorder {
 public:
  static Result<ChangeRecorder> begin(Database& database);

  bool isEmpty() const;
  /// Rows as they are now: within the transaction that has changed them.
  Result<std::string> changes() const;

 private:
  struct End {
    void operator()(sqlite3_session* session) const;
  };
  std::string name_;
  std::unique_ptr<sqlite3_session, End> session_;
};

/// kDataLoss: they are of another copy, or damaged. Whether a row refers to one that is not there yet is not
/// looked at where the connection does not enforce it.
Status applyChanges(Database& database, std::string_view changes);

}  // namespace pop::popdistd
