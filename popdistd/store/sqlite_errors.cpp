// SPDX-License-Identifier: Apache-2.0
#include "popdistd/store/sqlite_errors.h"

#include <sqlite3.h>

#include <cerrno>

namespace pop::popdistd {
namespace {

bool isSpaceError(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

// The error number of the last call on a file that failed; 0 if none has.
int lastError(sqlite3_file* file) {
  int error = 0;
  if (file == nullptr || file->pMethods == nullptr) return 0;
  file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
  return error;
}

// SQLite itself takes only ENOSPC of a write for a full disk, and knows no more than errno of the others.
bool isOutOfSpace(sqlite3* connection, int primary) {
  if (primary == SQLITE_FULL) return true;
  if (primary != SQLITE_IOERR || connection == nullptr) return false;
  if (isSpaceError(::sqlite3_system_errno(connection))) return true;
  for (const int which : {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER}) {
    sqlite3_file* file = nullptr;
    if (::sqlite3_file_control(connection, "main", which, &file) == SQLITE_OK &&
        isSpaceError(lastError(file)))
      return true;
  }
  return false;
}

Code codeOfConstraint(int code) {
  switch (code) {
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
    case SQLITE_CONSTRAINT_UNIQUE:
      return Code::kAlreadyExists;
    case SQLITE_CONSTRAINT_FOREIGNKEY:
      return Code::kFailedPrecondition;
    default:
      return Code::kInternal;
  }
}

}  // namespace

Status damaged(const std::string& name, const std::string& what) {
  return {Code::kDataLoss, name + " is damaged (" + what + "): stop popdistd, move " + name + ", " + name +
                               "-wal and " + name +
                               "-shm away, and put a copy that `popctl backup` has made in their place"};
}

Status statusOf(sqlite3* connection, int code, const std::string& name) {
  const std::string words = connection == nullptr ? ::sqlite3_errstr(code) : ::sqlite3_errmsg(connection);
  const int primary = code & 0xff;
  if (isOutOfSpace(connection, primary))
    return {Code::kResourceExhausted,
            "there is no space on the disk of " + name + " (" + words + "): make room there"};
  switch (primary) {
    case SQLITE_CONSTRAINT:
      return {codeOfConstraint(code), name + ": " + words};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return damaged(name, words);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return unavailable("another process has locked " + name + " (" + words + ")");
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return {Code::kPermissionDenied, name + " cannot be opened or written (" + words +
                                           "): it and its directory must be writable for popdistd's user"};
    case SQLITE_IOERR:
      return unavailable("the disk of " + name + " fails (" + words + ")");
    case SQLITE_NOMEM:
      return {Code::kResourceExhausted, "there is no memory for " + name};
    case SQLITE_TOOBIG:
      return invalidArgument("a record is too large for " + name);
    default:
      return internalError(name + ": " + words);
  }
}

}  // namespace pop::popdistd
