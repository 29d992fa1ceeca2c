// SPDX-License-Identifier: Apache-2.0
// A directory of the test's own, which goes with the object, whatever is in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "common/base/check.h"

namespace pop::testing {

class TempDir {
 public:
  /// `parent`: empty: where temporary files go.
  explicit TempDir(const std::string& parent = {})
      : path_(((parent.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(parent)) /
               "poprun-test-XXXXXX")
                  .string()) {
    POP_CHECK(::mkdtemp(path_.data()) != nullptr);
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  /// Absolute, without a slash at its end.
  const std::string& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const {
    return std::filesystem::path(path_) / name;
  }

 private:
  std::string path_;
};

}  // namespace pop::testing
