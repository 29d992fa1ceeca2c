// SPDX-License-Identifier: Apache-2.0
#include "popdistd/store/state_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "common/base/text.h"
#include "common/sys/whole_file.h"

namespace pop::popdistd {
namespace {

Status make(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (!error && ::mkdir(path.c_str(), S_IRWXU) == 0) return {};
  const int why = error ? error.value() : errno;
  // A file system that is read-only answers so even for directories that exist.
  if (struct stat status{}; ::stat(path.c_str(), &status) == 0) return {};
  return errnoStatus("making the state directory " + path, why);
}

Status checkOwner(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return errnoStatus("looking at " + path, errno);
  if (!S_ISDIR(status.st_mode)) return failedPrecondition(path + " is not a directory");
  if (status.st_uid != ::geteuid())
    return {Code::kPermissionDenied, "the state directory " + path + " belongs to user " +
                                         std::to_string(status.st_uid) + ", and popdistd runs as user " +
                                         std::to_string(::geteuid())};
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return {Code::kPermissionDenied, "others may write to the state directory " + path +
                                         ": after a look at what is in it, chmod go-w " + path};
  return {};
}

Status isTaken(const std::string& path, const sys::Fd& file) {
  const Result<std::string> holder = sys::readAll(file, path);
  const std::string pid = holder.ok() ? holder.value().substr(0, holder.value().find('\n')) : "";
  return {Code::kAlreadyExists, "another popdistd has the state directory " + path +
                                    (pid.empty() ? "" : ", process " + printable(pid))};
}

// Locks the open file, not the process: a second store in this process is refused like another process's.
Status lockFor(const sys::Fd& file, const std::string& path) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return {};
  if (errno == EAGAIN || errno == EACCES) return isTaken(path, file);
  return errnoStatus("locking " + path, errno);
}

}  // namespace

Result<sys::Fd> takeStateDirectory(const std::string& path) {
  POP_RETURN_IF_ERROR(make(path));
  POP_RETURN_IF_ERROR(checkOwner(path));
  Result<sys::Fd> file = sys::openRegular(path + "/lock", O_RDWR | O_CREAT);
  if (!file.ok() && file.code() == Code::kNotFound) return file.status();
  if (!file.ok())
    return Status(
        file.code() == Code::kUnknown ? Code::kPermissionDenied : file.code(),
        "popdistd must be able to write to its state directory " + path + ": " + file.status().message());
  POP_RETURN_IF_ERROR(lockFor(*file, path));
  // Names the holder, for the refusal of the next one; a full disk is no reason against starting.
  if (::ftruncate(file->get(), 0) == 0) (void)sys::writeAll(file->get(), std::to_string(::getpid()) + "\n");
  return file;
}

}  // namespace pop::popdistd
