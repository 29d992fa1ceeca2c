// SPDX-License-Identifier: Apache-2.0
// Compiled collectives as files of a directory that instances share, those of several hosts too: the first
// one compiles, the others wait for it and read.
#pragma once

#include <functional>
#include <string>

#include "common/base/status.h"
#include "libpopdist/pod/plans/program_bytes.h"

namespace popdist::pod {

class ProgramCache {
 public:
  /// Of a directory that exists; of any other name, it keeps nothing.
  explicit ProgramCache(std::string directory);

  bool isOpen() const { return !directory_.empty(); }
  const std::string& directory() const { return directory_; }

  using Compile = std::function<pop::Result<CompiledCollective>()>;
  /// The program that `key` describes, from its file if that can be trusted: a regular one, of this user or
  /// root, that nobody else may write, whole, and of the same key. Otherwise it is compiled, and stored if
  /// that can be done. Waits at most 10 s for another instance that is compiling, and compiles then, too.
  pop::Result<CompiledCollective> get(const std::string& key, const Compile& compile) const;

  /// The name of the file.
  static std::string nameOf(const std::string& key);

 private:
  std::string directory_;
};

}  // namespace popdist::pod
