// SPDX-License-Identifier: Apache-2.0
// File descriptors with one owner, always close-on-exec.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "common/base/status.h"

namespace pop::sys {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read_end;
  Fd write_end;
};

Result<Pipe> makePipe();
Status setNonBlocking(int fd);

/// Writes all of `bytes`, repeating interrupted and partial writes. For blocking descriptors.
Status writeAll(int fd, std::string_view bytes);

/// Opens a file for reading; errors such as kNotFound name the path.
Result<Fd> openFile(const std::string& path);

/// Reads the rest of a small file; `path` is for error messages.
Result<std::string> readAll(const Fd& file, const std::string& path);

/// Opens and reads a small file.
Result<std::string> readFile(const std::string& path);

}  // namespace pop::sys
