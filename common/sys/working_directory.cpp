// SPDX-License-Identifier: Apache-2.0
#include "common/sys/working_directory.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace pop::sys {
namespace {

// A shell may write ".." into $PWD, which means another directory once a link is resolved otherwise.
bool hasDots(const std::filesystem::path& path) {
  for (const std::filesystem::path& part : path) {
    if (part == "." || part == "..") return true;
  }
  return false;
}

}  // namespace

Result<std::string> workingDirectory() {
  std::error_code error;
  std::string resolved = std::filesystem::current_path(error).string();
  if (error) return errnoStatus("finding the working directory", error.value());
  const char* named = std::getenv("PWD");
  struct stat there {};
  struct stat here {};
  const bool is_here = named != nullptr && named[0] == '/' && !hasDots(named) && ::stat(named, &there) == 0 &&
                       ::stat(".", &here) == 0 && there.st_dev == here.st_dev && there.st_ino == here.st_ino;
  return is_here ? std::string(named) : resolved;
}

}  // namespace pop::sys
