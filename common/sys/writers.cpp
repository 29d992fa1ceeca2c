// SPDX-License-Identifier: Apache-2.0
#include "common/sys/writers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace pop::sys {

Status checkWriters(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return errnoStatus("opening " + path, errno);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return failedPrecondition(path + " can be written by others: chmod go-w it");
  if (status.st_uid != 0 && status.st_uid != ::geteuid())
    return failedPrecondition(path + " belongs to user " + std::to_string(status.st_uid) +
                              ": it must be ours or root's");
  return {};
}

}  // namespace pop::sys
