// SPDX-License-Identifier: Apache-2.0
#include "common/sys/writers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace pop::sys {
namespace {

using FileStatus = struct stat;

bool othersCanWrite(const FileStatus& status) {
  return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

Status checkOwner(const FileStatus& status, const std::string& path) {
  if (status.st_uid == 0 || status.st_uid == ::geteuid()) return {};
  return failedPrecondition(path + " belongs to user " + std::to_string(status.st_uid) +
                            ": it must belong to this user or root");
}

Status check(const FileStatus& status, const std::string& path) {
  if (othersCanWrite(status)) return failedPrecondition(path + " can be written by others: chmod go-w it");
  return checkOwner(status, path);
}

// In a sticky directory (/tmp) only the owner can replace a file, so one of this user or root is safe.
Status checkDirectoryOf(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string();
  FileStatus status{};
  if (::stat(directory.c_str(), &status) != 0) return errnoStatus("opening " + directory, errno);
  if (othersCanWrite(status) && (status.st_mode & S_ISVTX) == 0) {
    return failedPrecondition(
        path + " can be replaced by others, who can write in its directory: chmod go-w " + directory);
  }
  return checkOwner(status, directory);
}

}  // namespace

Status checkWriters(const std::string& path) {
  FileStatus status{};
  if (::stat(path.c_str(), &status) != 0) return errnoStatus("opening " + path, errno);
  return check(status, path);
}

Status checkWriters(const Fd& file, const std::string& path) {
  FileStatus status{};
  if (::fstat(file.get(), &status) != 0) return errnoStatus("reading " + path, errno);
  POP_RETURN_IF_ERROR(check(status, path));
  return checkDirectoryOf(path);
}

}  // namespace pop::sys
