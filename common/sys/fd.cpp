// SPDX-License-Identifier: Apache-2.0
#include "common/sys/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace pop::sys {

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<Pipe> makePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errnoStatus("creating a pipe", errno);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Status setNonBlocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return errnoStatus("making a descriptor non-blocking", errno);
  }
  return {};
}

Status writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errnoStatus("writing", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<Fd> openFile(const std::string& path) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return errnoStatus("opening " + path, errno);
  return file;
}

Result<std::string> readAll(const Fd& file, const std::string& path) {
  std::string content;
  std::array<char, 4096> chunk{};
  while (true) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errnoStatus("reading " + path, errno);
    if (got == 0) return content;
    content.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

Result<std::string> readFile(const std::string& path) {
  POP_ASSIGN_OR_RETURN(const Fd file, openFile(path));
  return readAll(file, path);
}

}  // namespace pop::sys
