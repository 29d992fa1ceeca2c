// SPDX-License-Identifier: Apache-2.0
// Files that options name, each read once: a pipe has nothing for who reads it again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::cli {

class OptionFiles {
 public:
  /// As readFileText, and the same each time.
  Result<std::string> text(const std::string& path);

  /// What cannot be read again, for the program that this process is about to become: the first of its
  /// arguments, and descriptors that it inherits.
  Result<std::vector<std::string>> handOver() const;

  /// Takes from `arguments` what handOver() has put before them.
  Status takeOver(std::vector<std::string>& arguments);

 private:
  std::map<std::string, std::string> texts_;
};

}  // namespace pop::cli
