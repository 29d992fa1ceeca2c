// SPDX-License-Identifier: Apache-2.0
// Files that options name. Each is read only once, because a pipe cannot be read again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::cli {

class OptionFiles {
 public:
  /// Like readFileText, but returns the same result every time.
  Result<std::string> text(const std::string& path);

  /// Passes files that cannot be read again to the program that this process is about to execute: by its
  /// first arguments, and by descriptors that it inherits.
  Result<std::vector<std::string>> handOver() const;

  /// Removes from `arguments` those that handOver() has added, and reads the files.
  Status takeOver(std::vector<std::string>& arguments);

 private:
  std::map<std::string, std::string> texts_;
};

}  // namespace pop::cli
