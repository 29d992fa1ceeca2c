// SPDX-License-Identifier: Apache-2.0
// A directory of checkpoints. Their names are their states:
//
//   step-000500          complete
//   step-000500.partial  being written, or left by a writer that has died
//   step-000400.deleted  being deleted, or left likewise
//   writer.lock          locked by the one who writes, with his name
//   evaluated            the step at which the training was evaluated last (evaluated.cpp)
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"
#include "libpopdist/train/checkpoint/disk_file.h"
#include "libpopdist/train/checkpoint/manifest.h"

namespace popdist::train {

/// Hears what a writer does next, by name: tests end the process there.
using Watch = std::function<void(const char* next)>;

std::string stepName(std::uint64_t step);
std::string partialName(std::uint64_t step);

/// Steps of the complete ones, ascending; none where there is no such directory.
pop::Result<std::vector<std::uint64_t>> completeSteps(const std::string& directory);

/// The only one that makes, names and deletes checkpoints in a directory; the files in them are written by
/// all instances.
class Store {
 public:
  /// Makes the directory, and locks it. kFailedPrecondition: another one has; the text says which process.
  static pop::Result<Store> open(const std::string& directory, Watch watch);

  /// From now on those up to `step` may be deleted like those that were written here.
  void adoptUpTo(std::uint64_t step);

  /// Deletes what dead writers have left, and makes the directory for the files of `step`. kAlreadyExists:
  /// there is one that is not below it.
  pop::Status begin(std::uint64_t step);

  /// Checks that all files of begin()'s step are there, writes the manifest and gives the directory its name.
  pop::Status commit(const Manifest& manifest);

  /// Deletes what begin() made.
  void abandon(std::uint64_t step);

  /// Deletes all but the newest `keep`; 0: nothing. Checkpoints that cannot be deleted are left for the next
  /// time.
  void prune(int keep);

 private:
  Store(Directory directory, pop::sys::Fd lock, Watch watch);

  pop::Status moveAside(const std::string& name) const;
  pop::Status checkFiles(const Directory& partial, const Manifest& manifest) const;
  pop::Status rename(const std::string& from, const std::string& to) const;
  void reach(const char* next) const {
    if (watch_) watch_(next);
  }

  Directory directory_;
  pop::sys::Fd lock_;
  Watch watch_;
  std::set<std::uint64_t> ours_;  ///< complete ones that may be deleted
};

}  // namespace popdist::train
