// SPDX-License-Identifier: Apache-2.0
// The audit log in the SQLite store.
#include "popdistd/store/sqlite_store.h"

namespace pop::popdistd {

Result<std::vector<StoredAudit>> SqliteStore::audit(std::int64_t from, std::size_t most) {
  std::vector<StoredAudit> entries;
  POP_RETURN_IF_ERROR(database_.select("SELECT id, record FROM audit WHERE id >= ? ORDER BY id LIMIT ?",
                                       {from, static_cast<std::int64_t>(most)}, [&](const Row& row) {
                                         entries.push_back({row.integer(0), row.bytes(1)});
                                         return Status();
                                       }));
  return entries;
}

Result<std::int64_t> SqliteStore::lastAudit() {
  return database_.number("SELECT coalesce(max(id), 0) FROM audit");
}

Status SqliteStore::putAudit(std::int64_t id, std::string_view user, std::string_view bytes) {
  return write([&] {
    return database_.run("INSERT INTO audit(id, user, record) VALUES(?, ?, ?)", {id, user, Blob{bytes}});
  });
}

}  // namespace pop::popdistd
