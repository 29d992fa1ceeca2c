// SPDX-License-Identifier: Apache-2.0
// A file that grows by whole frames: an append that fails leaves nothing of itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::runner {

class AppendFile {
 public:
  AppendFile() = default;
  /// Opens the file, or makes it, and cuts what lies behind its first `size` bytes.
  static Result<AppendFile> open(const std::string& path, std::uint64_t size);

  /// In one write, as long as the system takes it. kResourceExhausted: there is no space for it.
  Status append(std::string_view bytes);
  Status sync();

  std::uint64_t size() const { return size_; }

 private:
  Status cut();

  sys::Fd file_;
  std::string path_;
  std::uint64_t size_ = 0;
  bool has_rest_ = false;  // of an append that failed, and could not be cut
};

}  // namespace pop::runner
