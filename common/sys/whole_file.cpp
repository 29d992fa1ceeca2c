// SPDX-License-Identifier: Apache-2.0
#include "common/sys/whole_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace pop::sys {
namespace {

Status writeNew(const std::string& path, std::string_view bytes, bool durably) {
  POP_ASSIGN_OR_RETURN(const Fd file, openRegular(path, O_WRONLY | O_CREAT | O_TRUNC));
  Status status = writeAll(file.get(), bytes).during("writing " + path);
  if (status.ok() && durably) status = syncFile(file, path);
  return status;
}

Status replace(const std::string& directory, const std::string& name, std::string_view bytes, bool durably) {
  const std::string path = directory + "/" + name, temporary = path + ".new";
  Status status = writeNew(temporary, bytes, durably);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = errnoStatus("renaming " + temporary, errno);
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

}  // namespace

Result<Fd> openRegular(const std::string& path, int flags) {
  Fd file(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR));
  if (!file.valid() && errno == ELOOP) return failedPrecondition(path + " is a link, not a file");
  if (!file.valid()) return errnoStatus("opening " + path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return errnoStatus("looking at " + path, errno);
  if (!S_ISREG(status.st_mode)) return failedPrecondition(path + " is not a file");
  return file;
}

Status replaceFile(const std::string& directory, const std::string& name, std::string_view bytes) {
  return replace(directory, name, bytes, false);
}

Status replaceFileDurably(const std::string& directory, const std::string& name, std::string_view bytes) {
  POP_RETURN_IF_ERROR(replace(directory, name, bytes, true));
  return syncDirectory(directory);
}

Status syncFile(const Fd& file, const std::string& path) {
  while (::fdatasync(file.get()) != 0) {
    if (errno != EINTR) return errnoStatus("writing " + path + " to its disk", errno);
  }
  return {};
}

Status syncDirectory(const std::string& path) {
  const Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return errnoStatus("opening " + path, errno);
  return syncFile(directory, path);
}

Result<std::string> readRegular(const std::string& path) {
  POP_ASSIGN_OR_RETURN(const Fd file, openRegular(path, O_RDONLY));
  return readAll(file, path);
}

}  // namespace pop::sys
