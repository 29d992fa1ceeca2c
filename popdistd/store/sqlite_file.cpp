// SPDX-License-Identifier: Apache-2.0
#include "popdistd/store/sqlite_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "common/sys/name_file.h"
#include "common/sys/whole_file.h"
#include "popdistd/store/sqlite_errors.h"
#include "popdistd/store/sqlite_schema.h"

namespace pop::popdistd {
namespace {

// 100 MB are looked through in about a tenth of a second; larger files on request only.
constexpr std::int64_t kMostBytesToCheck = 64 << 20;

// synchronous = FULL: a commit is on the disk when it returns. Without it WAL survives only kills.
constexpr const char* kSettings = R"(
PRAGMA foreign_keys = ON;
PRAGMA synchronous = FULL;
PRAGMA secure_delete = FAST;
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
PRAGMA journal_size_limit = 67108864;
)";

Status useLog(Database& database) {
  std::string mode;
  POP_RETURN_IF_ERROR(database.select("PRAGMA journal_mode = WAL", {}, [&mode](const Row& row) {
    mode = row.bytes(0);
    return Status();
  }));
  if (mode == "wal") return {};
  return failedPrecondition("the file system of " + database.name() +
                            " shares no memory between processes, which the store needs: use a local disk");
}

// Beside its final name first: so a store without content has lost it, and is never taken for a new one.
Status makeFile(const std::string& path) {
  const std::string temporary = path + ".new";
  ::unlink((temporary + "-journal").c_str());
  POP_RETURN_IF_ERROR(makeEmptyFile(temporary));
  {
    POP_ASSIGN_OR_RETURN(Database database, Database::open(temporary, Database::Access::kWrite));
    POP_RETURN_IF_ERROR(database.script("PRAGMA synchronous = OFF"));  // its name makes it durable
    POP_RETURN_IF_ERROR(bringUpToDate(database));
    POP_RETURN_IF_ERROR(useLog(database));
  }
  return nameWholeFile(temporary, path);
}

// The leftovers of a store that is gone would go into the next one with its name.
Status checkNothingIsLeft(const std::string& path) {
  const std::string log = path + "-wal";
  std::error_code error;
  if (std::filesystem::file_size(log, error) == 0 || error) return {};
  return {Code::kDataLoss, path + " is gone, and " + log +
                               " is there, with its last changes: put the file back, or a copy that `popctl "
                               "backup` has made in its place and remove " +
                               log};
}

// A copy that was put here may be readable by others. Closes the file before SQLite opens it: closing it
// later would take SQLite's locks away.
Status checkFile(const std::string& path) {
  POP_ASSIGN_OR_RETURN(const sys::Fd file, sys::openRegular(path, O_RDONLY));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return errnoStatus("looking at " + path, errno);
  if (status.st_size == 0) return damaged(path, "it is empty");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0 && ::fchmod(file.get(), S_IRUSR | S_IWUSR) != 0)
    return errnoStatus("keeping others from reading " + path, errno);
  return {};
}

Result<std::int64_t> sizeOf(Database& database) {
  POP_ASSIGN_OR_RETURN(const std::int64_t pages, database.number("PRAGMA page_count"));
  POP_ASSIGN_OR_RETURN(const std::int64_t page_bytes, database.number("PRAGMA page_size"));
  return pages * page_bytes;
}

Status checkPages(Database& database) {
  POP_ASSIGN_OR_RETURN(const std::int64_t bytes, sizeOf(database));
  if (bytes > kMostBytesToCheck) return {};
  return database.select("PRAGMA quick_check(1)", {}, [&](const Row& row) {
    const std::string finding = row.bytes(0);
    return finding == "ok" ? Status() : damaged(database.name(), finding);
  });
}

}  // namespace

Status makeEmptyFile(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return errnoStatus("removing " + path, errno);
  const Result<sys::Fd> file = sys::openRegular(path, O_WRONLY | O_CREAT | O_EXCL);
  return file.ok() ? Status() : file.status();
}

Status nameWholeFile(const std::string& temporary, const std::string& path) {
  {
    POP_ASSIGN_OR_RETURN(const sys::Fd file, sys::openRegular(temporary, O_RDONLY));
    POP_RETURN_IF_ERROR(sys::syncFile(file, temporary));
  }
  if (const int error = sys::nameFile(temporary, path, false); error != 0)
    return errnoStatus("making " + path, error);
  return sys::syncDirectory(std::filesystem::path(path).parent_path().string());
}

Result<Database> openStoreFile(const std::string& path) {
  std::error_code error;
  const bool is_there = std::filesystem::exists(std::filesystem::symlink_status(path, error));
  if (!is_there) {
    POP_RETURN_IF_ERROR(checkNothingIsLeft(path));
    POP_RETURN_IF_ERROR(makeFile(path).during("making the store " + path));
  }
  POP_RETURN_IF_ERROR(checkFile(path));
  POP_ASSIGN_OR_RETURN(Database database, Database::open(path, Database::Access::kWrite));
  POP_RETURN_IF_ERROR(database.script(kSettings));
  POP_RETURN_IF_ERROR(checkPages(database));
  POP_RETURN_IF_ERROR(bringUpToDate(database));
  POP_RETURN_IF_ERROR(useLog(database));  // not before the file is known to be ours
  return database;
}

}  // namespace pop::popdistd
