// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/file_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "common/sys/fd.h"

namespace pop::cli {
namespace {

constexpr std::size_t kMostBytes = 16 << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // some editors begin files with it

Status failed(const std::string& path, int error) {
  return errnoStatus(path, error);
}

// Gives the finished file its name. link() fails where there is one already, whoever has just made it.
Status publish(const std::string& temporary, const std::string& path, bool overwrite) {
  if (overwrite) {
    if (::rename(temporary.c_str(), path.c_str()) == 0) return {};
    return failed(path, errno);
  }
  if (::link(temporary.c_str(), path.c_str()) == 0) {
    ::unlink(temporary.c_str());
    return {};
  }
  if (errno == EEXIST) return {Code::kAlreadyExists, path + " exists already"};
  return failed(path, errno);
}

mode_t usualMode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

Result<std::string> readFileText(const std::string& path) {
  const sys::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return failed(path, errno);
  std::string text;
  std::array<char, 16 << 10> buffer;
  while (true) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(path, errno);
    if (got == 0) return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kMostBytes) return invalidArgument(path + " is larger than 16 MiB");
  }
}

Status writeFileText(const std::string& path, const std::string& text, bool overwrite) {
  std::string temporary = path + ".XXXXXX";  // in the same directory: a rename cannot leave its file system
  const sys::Fd file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid()) return failed(path, errno);
  Status status = ::fchmod(file.get(), usualMode()) == 0 ? Status() : errnoStatus("chmod", errno);
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

}  // namespace pop::cli
