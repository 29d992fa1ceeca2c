// SPDX-License-Identifier: Apache-2.0
// Compiled collectives as files of a directory that instances share, those of several hosts too: the first
// one compiles, the others wait for it and read.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "common/base/status.h"
#include "libpopdist/pod/plans/program_bytes.h"

namespace popdist::pod {

class ProgramCache {
 public:
  /// A cache in a directory that exists. With any other name it keeps nothing.
  explicit ProgramCache(std::string directory);

  bool isOpen() const { return !directory_.empty(); }
  const std::string& directory() const { return directory_; }

  using Compile = std::function<pop::Result<CompiledCollective>()>;
  /// The program that `key` describes, for so many replicas. From its file if that can be trusted: a regular
  /// one, of this user or root, that nobody else may write, whole, and of the same key. Otherwise it is
  /// compiled, and stored if that can be done. Waits at most 10 s for another instance that is compiling;
  /// after a wait that was in vain, it waits for nobody any more.
  pop::Result<CompiledCollective> get(const std::string& key, int replicas, const Compile& compile);

  /// The name of the file.
  static std::string nameOf(const std::string& key);

 private:
  std::string directory_;
  std::chrono::milliseconds most_wait_{10'000};
};

}  // namespace popdist::pod
