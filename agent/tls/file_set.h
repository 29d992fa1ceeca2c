// SPDX-License-Identifier: Apache-2.0
// Several new files of one directory that appear together: each is first written in full under a temporary
// name.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::agent {

class FileSet {
 public:
  explicit FileSet(std::string directory) : directory_(std::move(directory)) {}
  /// Removes uncommitted files.
  ~FileSet();
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  /// `secret`: mode 0600, else 0644. `replace`: an existing file may be replaced.
  Status add(const std::string& name, const std::string& content, bool secret, bool replace);

  /// Renames all files to their final names, in the order in which they were added. kAlreadyExists: another
  /// process has created one in the meantime; files that already had their final names are removed again.
  Status commit();

 private:
  struct Pending {
    std::string temporary;
    std::string path;
    bool replace = false;
  };

  std::string directory_;
  std::vector<Pending> pending_;
};

}  // namespace pop::agent
