// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/formats/file_state.h"

#include <cerrno>

#include "common/base/text.h"

namespace popdist::io {
namespace {

std::int64_t inNs(const timespec& time) {
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

}  // namespace

pop::Result<FileState> FileState::of(int file, const std::string& path) {
  struct stat found {};
  if (::fstat(file, &found) != 0) return pop::errnoStatus("cannot look at " + pop::inQuotes(path), errno);
  if (!S_ISREG(found.st_mode)) {
    return pop::invalidArgument(
        pop::inQuotes(path) +
        (S_ISDIR(found.st_mode)
             ? " is a directory, expected a file"
             : " is no regular file but a pipe, a socket or a device, which can be read only once"));
  }
  return FileState{path, static_cast<std::uint64_t>(found.st_size), found.st_ino, inNs(found.st_ctim),
                   modifiedNs(found)};
}

std::int64_t modifiedNs(const struct stat& file) {
  return inNs(file.st_mtim);
}

}  // namespace popdist::io
