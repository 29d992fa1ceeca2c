// SPDX-License-Identifier: Apache-2.0
#include "popdistd/store/sqlite_changes.h"

#include <sqlite3.h>

#include <utility>

#include "popdistd/store/sqlite_errors.h"

namespace pop::popdistd {
namespace {

// Copies are the same: whatever does not fit is damage.
int refuse(void* /*context*/, int /*kind*/, sqlite3_changeset_iter* /*change*/) {
  return SQLITE_CHANGESET_ABORT;
}

}  // namespace

void ChangeRecorder::End::operator()(sqlite3_session* session) const {
  ::sqlite3session_delete(session);
}

Result<ChangeRecorder> ChangeRecorder::begin(Database& database) {
  ChangeRecorder recorder;
  recorder.name_ = database.name();
  sqlite3_session* session = nullptr;
  int code = ::sqlite3session_create(database.handle(), "main", &session);
  recorder.session_.reset(session);
  if (code == SQLITE_OK) code = ::sqlite3session_attach(session, nullptr);  // all tables
  if (code != SQLITE_OK) return statusOf(database.handle(), code, database.name());
  return recorder;
}

bool ChangeRecorder::isEmpty() const {
  return ::sqlite3session_isempty(session_.get()) != 0;
}

Result<std::string> ChangeRecorder::changes() const {
  int num_bytes = 0;
  void* bytes = nullptr;
  const int code = ::sqlite3session_patchset(session_.get(), &num_bytes, &bytes);
  const std::unique_ptr<void, void (*)(void*)> owner(bytes, ::sqlite3_free);
  if (code != SQLITE_OK) return statusOf(nullptr, code, name_);
  return std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(num_bytes));
}

Status applyChanges(Database& database, std::string_view changes) {
  std::string bytes(changes);  // SQLite's parameter is not const
  const int code = ::sqlite3changeset_apply(database.handle(), static_cast<int>(bytes.size()), bytes.data(),
                                            nullptr, refuse, nullptr);
  if (code == SQLITE_OK) return {};
  if (code == SQLITE_ABORT || code == SQLITE_CORRUPT || code == SQLITE_SCHEMA)
    return {Code::kDataLoss, database.name() + " does not fit the log: " + ::sqlite3_errstr(code)};
  return statusOf(database.handle(), code, database.name());
}

}  // namespace pop::popdistd
