// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/program_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include "common/sys/awake_clock.h"
#include "common/sys/fd.h"
#include "common/sys/whole_file.h"

namespace popdist::pod {
namespace {

constexpr std::chrono::milliseconds kBetweenTries{2};

bool isDirectory(const std::string& path) {
  struct stat status {};
  return !path.empty() && ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Held by one instance of a host, and of those hosts whose file system carries locks. It ends with its
// process.
class Lock {
 public:
  Lock(const std::string& directory, std::chrono::milliseconds most_wait)
      : directory_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    const auto deadline = pop::sys::AwakeClock::now() + most_wait;
    while (::flock(directory_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      gave_up_ = pop::sys::AwakeClock::now() >= deadline;
      if (gave_up_) return;
      std::this_thread::sleep_for(kBetweenTries);
    }
  }
  bool gaveUp() const { return gave_up_; }

 private:
  const pop::sys::Fd directory_;
  bool gave_up_ = false;
};

bool isTrusted(const pop::sys::Fd& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return false;
  const bool is_ours = status.st_uid == ::geteuid() || status.st_uid == 0;
  return is_ours && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<CompiledCollective> load(const std::string& path, const std::string& key, int replicas) {
  pop::Result<pop::sys::Fd> file = pop::sys::openRegular(path, O_RDONLY);
  if (!file.ok() || !isTrusted(*file)) return std::nullopt;
  pop::Result<std::string> bytes = pop::sys::readAll(*file, path);
  if (!bytes.ok()) return std::nullopt;
  pop::Result<CompiledCollective> compiled = programFromBytes(*bytes, key);
  if (!compiled.ok() || compiled->schedule.replicas != replicas) return std::nullopt;
  return std::move(*compiled);
}

std::uint64_t hashOf(const std::string& text, std::uint64_t hash) {
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 1099511628211U;
  return hash;
}

}  // namespace

ProgramCache::ProgramCache(std::string directory)
    : directory_(isDirectory(directory) ? std::move(directory) : std::string()) {}

std::string ProgramCache::nameOf(const std::string& key) {
  char name[64];
  std::snprintf(name, sizeof(name), "pod-%016llx%016llx.program",
                static_cast<unsigned long long>(hashOf(key, 14695981039346656037U)),
                static_cast<unsigned long long>(hashOf(key, 1)));
  return name;
}

pop::Result<CompiledCollective> ProgramCache::get(const std::string& key, int replicas,
                                                  const Compile& compile) {
  if (!isOpen()) return compile();
  const std::string name = nameOf(key);
  const std::string path = directory_ + '/' + name;
  if (std::optional<CompiledCollective> loaded = load(path, key, replicas)) return std::move(*loaded);
  const Lock lock(directory_, most_wait_);
  if (lock.gaveUp()) most_wait_ = {};
  if (std::optional<CompiledCollective> loaded = load(path, key, replicas)) return std::move(*loaded);
  pop::Result<CompiledCollective> compiled = compile();
  if (!compiled.ok()) return compiled;
  const std::string bytes = programBytes(key, *compiled);
  // A cache that is full or read-only costs time, not the job.
  if (!bytes.empty()) static_cast<void>(pop::sys::replaceFile(directory_, name, bytes));
  return compiled;
}

}  // namespace popdist::pod
