// SPDX-License-Identifier: Apache-2.0
// A copy of the SQLite store's file, whole or none.
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/text.h"
#include "popdistd/store/sqlite_file.h"
#include "popdistd/store/sqlite_store.h"

namespace pop::popdistd {
namespace {

Status checkPath(const std::string& path) {
  if (!path.starts_with('/'))
    return invalidArgument("the backup's path " + inQuotes(path) + " is not absolute");
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  return {Code::kAlreadyExists, path + " is there already: name a new file for the backup"};
}

// SQLite fills an existing empty file, which so is closed to other users from the start.
Status copyInto(Database& database, const std::string& path) {
  POP_RETURN_IF_ERROR(makeEmptyFile(path));
  return database.run("VACUUM INTO ?", {std::string_view(path)});
}

Status copy(Database& database, const std::string& path) {
  const std::string temporary = path + ".new";
  Status status = copyInto(database, temporary);
  if (status.ok()) status = nameWholeFile(temporary, path);
  if (!status.ok()) ::unlink(temporary.c_str());
  return std::move(status).during("copying the store to " + path);
}

}  // namespace

Status SqliteStore::backup(const std::string& path) {
  POP_RETURN_IF_ERROR(checkPath(path));
  return lookAtCommitted([&](Database& database) { return copy(database, path); });
}

}  // namespace pop::popdistd
