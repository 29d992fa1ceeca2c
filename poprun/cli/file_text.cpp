// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/file_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "common/sys/fd.h"
#include "common/sys/name_file.h"

namespace pop::cli {
namespace {

constexpr std::size_t kMostBytes = 16 << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // some editors begin files with it

Status failed(const std::string& path, int error) {
  return errnoStatus(path, error);
}

Status existsAlready(const std::string& path) {
  return {Code::kAlreadyExists, path + " already exists"};
}

// Gives the finished file its name.
Status publish(const std::string& temporary, const std::string& path, bool overwrite) {
  const int error = sys::nameFile(temporary, path, overwrite);
  if (error == 0) return {};
  return error == EEXIST ? existsAlready(path) : failed(path, error);
}

mode_t usualMode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// Keeps mode and owner of the replaced file, which may be private. Only root can change owners; failing to do
// so is not an error.
Status setAccess(int file, const struct stat* replaced) {
  if (replaced != nullptr && ::fchown(file, replaced->st_uid, replaced->st_gid) != 0) {
    [[maybe_unused]] const int ignored = ::fchown(file, static_cast<uid_t>(-1), replaced->st_gid);
  }
  const mode_t mode = replaced != nullptr ? replaced->st_mode & 07777 : usualMode();
  return ::fchmod(file, mode) == 0 ? Status() : errnoStatus("chmod", errno);
}

// `replaced`: the file of that name, if there is one.
Status writeWhole(const std::string& path, const std::string& text, bool overwrite,
                  const struct stat* replaced) {
  std::string temporary = path + ".XXXXXX";  // in the same directory: a rename cannot leave its file system
  const sys::Fd file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid()) return failed(path, errno);
  Status status = setAccess(file.get(), replaced);
  if (status.ok()) status = sys::writeAll(file.get(), text);
  if (status.ok() && ::fsync(file.get()) != 0 && errno != EINVAL) status = errnoStatus("fsync", errno);
  if (status.ok()) {
    status = publish(temporary, path, overwrite);
  } else {
    status = {status.code(), path + ": " + status.message()};
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

// A symbolic link is kept: its target is replaced.
Status replace(const std::string& path, const std::string& text, const struct stat& replaced) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  return error ? failed(path, error.value()) : writeWhole(file, text, true, &replaced);
}

Status writeTo(int file, const std::string& path, const std::string& text) {
  const Status written = sys::writeAll(file, text);
  return written.ok() ? written : Status(written.code(), path + ": " + written.message());
}

// The standard stream of this process that is this file, such as a redirected /dev/stdout; -1: none.
int ownStream(const struct stat& file) {
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat stream {};
    if (::fstat(fd, &stream) == 0 && stream.st_dev == file.st_dev && stream.st_ino == file.st_ino) return fd;
  }
  return -1;
}

Result<std::string> readAll(int file, const std::string& path) {
  std::string text;
  std::array<char, 16 << 10> buffer;
  while (true) {
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(path, errno);
    if (got == 0) return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kMostBytes) return invalidArgument(path + " is larger than 16 MiB");
  }
}

}  // namespace

Result<std::string> readFileText(const std::string& path) {
  const sys::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return failed(path, errno);
  return readAll(file.get(), path);
}

Result<std::string> readRegularFileText(const std::string& path) {
  const sys::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat found {};
  if (!file.valid() || ::fstat(file.get(), &found) != 0) return failed(path, errno);
  if (!S_ISREG(found.st_mode)) return invalidArgument(path + " is not a regular file");
  return readAll(file.get(), path);
}

Status writeFileText(const std::string& path, const std::string& text, bool overwrite) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    const int error = errno;
    if (::lstat(path.c_str(), &found) == 0) return failed(path + " is a link", error);
    return writeWhole(path, text, overwrite, nullptr);
  }
  if (const int stream = ownStream(found); stream >= 0) return writeTo(stream, path, text);
  if (!S_ISREG(found.st_mode)) {  // as cp does
    const sys::Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return file.valid() ? writeTo(file.get(), path, text) : failed(path, errno);
  }
  if (!overwrite) return existsAlready(path);
  return replace(path, text, found);
}

}  // namespace pop::cli
