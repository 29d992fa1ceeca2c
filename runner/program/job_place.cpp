// SPDX-License-Identifier: Apache-2.0
#include "runner/program/job_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace pop::runner {

Status checkPlace(const std::string& directory) {
  struct stat status {};
  if (::lstat(directory.c_str(), &status) != 0) return errnoStatus("looking at " + directory, errno);
  if (!S_ISDIR(status.st_mode)) return failedPrecondition(directory + " is not a directory");
  if (status.st_uid != ::geteuid())
    return {Code::kPermissionDenied, directory + " belongs to user " + std::to_string(status.st_uid) +
                                         ", and the job to user " + std::to_string(::geteuid())};
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return failedPrecondition("others may write to " + directory + ": it needs mode 0700");
  return {};
}

bool hasJob(const std::string& directory) {
  struct stat status {};
  return ::lstat((directory + "/spec").c_str(), &status) == 0;
}

Status emptyPlace(const std::string& directory) {
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  while (!error && entry != std::filesystem::directory_iterator()) {
    const std::filesystem::path path = entry->path();
    entry.increment(error);
    if (!error) std::filesystem::remove_all(path, error);
    if (error) return errnoStatus("removing " + path.string(), error.value());
  }
  if (error) return errnoStatus("listing " + directory, error.value());
  return {};
}

}  // namespace pop::runner
