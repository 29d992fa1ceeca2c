// SPDX-License-Identifier: Apache-2.0
// Several new files of one directory that appear together: written in full under temporary names first.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::agent {

class FileSet {
 public:
  explicit FileSet(std::string directory) : directory_(std::move(directory)) {}
  /// Removes what has not been committed.
  ~FileSet();
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  /// `secret`: mode 0600, else 0644. `replace`: may take the place of a file.
  Status add(const std::string& name, const std::string& content, bool secret, bool replace);

  /// Gives all of them their names, in the order in which they were added. kAlreadyExists: somebody else has
  /// made one in the meantime; those that had their names by then are taken back.
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
