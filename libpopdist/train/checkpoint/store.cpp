// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/checkpoint/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "common/base/text.h"
#include "common/sys/host_name.h"

namespace popdist::train {
namespace {

constexpr std::string_view kStep = "step-";
constexpr std::string_view kPartial = ".partial";
constexpr std::string_view kDeleted = ".deleted";
constexpr std::string_view kIncomplete = ".incomplete";
constexpr const char* kLockName = "writer.lock";

struct CloseDir {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

/// All but "." and "..".
pop::Result<std::vector<std::string>> namesIn(const Directory& directory) {
  const int copy = ::openat(directory.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return cannot("list", directory.path, errno);
  const std::unique_ptr<DIR, CloseDir> stream(::fdopendir(copy));
  if (!stream) {
    const int error = errno;
    ::close(copy);
    return cannot("list", directory.path, error);
  }
  std::vector<std::string> names;
  for (errno = 0; const dirent* entry = ::readdir(stream.get()); errno = 0) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) return cannot("list", directory.path, errno);
  return names;
}

/// The step that has this name, written exactly so.
std::optional<std::uint64_t> stepNamed(std::string_view name) {
  std::uint64_t step = 0;
  if (!name.starts_with(kStep)) return std::nullopt;
  const std::string_view digits = name.substr(kStep.size());
  if (std::from_chars(digits.data(), digits.data() + digits.size(), step).ec != std::errc() ||
      stepName(step) != name) {
    return std::nullopt;
  }
  return step;
}

bool isLeftover(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot != std::string_view::npos && (name.substr(dot) == kPartial || name.substr(dot) == kDeleted) &&
         stepNamed(name.substr(0, dot)).has_value();
}

/// Files of ours, and the directory if nothing else is in it.
void removeCheckpoint(const Directory& parent, const std::string& name) {
  Directory directory{
      pop::sys::Fd(::openat(parent.fd.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)),
      parent.pathOf(name)};
  if (!directory.fd.valid()) return;
  const auto names = namesIn(directory);
  if (!names.ok()) return;
  for (const std::string& file : names.value()) {
    if (file == kManifestName || (file.starts_with("shard-") && file.ends_with(".safetensors")))
      ::unlinkat(directory.fd.get(), file.c_str(), 0);
  }
  ::unlinkat(parent.fd.get(), name.c_str(), AT_REMOVEDIR);
}

std::string ownerIn(const pop::sys::Fd& lock) {
  char text[256];
  const ssize_t bytes = ::pread(lock.get(), text, sizeof text, 0);
  if (bytes <= 0) return "a process that has not said who it is";
  return pop::printable(pop::trimmed(std::string_view(text, static_cast<std::size_t>(bytes))));
}

pop::Result<pop::sys::Fd> lock(const Directory& directory) {
  const std::string path = directory.pathOf(kLockName);
  pop::sys::Fd file(::openat(directory.fd.get(), kLockName, O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file.valid()) return cannot("create", path, errno);
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return cannot("lock", path, errno);
    return pop::failedPrecondition(pop::inQuotes(directory.path) + " is written by " + ownerIn(file) +
                                   ": give this job another directory, or end the other");
  }
  const std::string owner = "process " + std::to_string(::getpid()) + " on " + pop::sys::hostName();
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), owner.data(), owner.size(), 0) < 0)
    return cannot("write", path, errno);
  return file;
}

}  // namespace

std::string stepName(std::uint64_t step) {
  const std::string digits = std::to_string(step);
  return std::string(kStep) + std::string(6 - std::min<std::size_t>(digits.size(), 6), '0') + digits;
}

std::string partialName(std::uint64_t step) {
  return stepName(step) + std::string(kPartial);
}

pop::Result<std::vector<std::uint64_t>> completeSteps(const std::string& path) {
  pop::Result<Directory> directory = openDirectory(path);
  if (directory.code() == pop::Code::kNotFound) return std::vector<std::uint64_t>{};
  if (!directory.ok()) return directory.status();
  POP_ASSIGN_OR_RETURN(const std::vector<std::string> names, namesIn(directory.value()));
  std::vector<std::uint64_t> steps;
  for (const std::string& name : names) {
    const auto step = stepNamed(name);
    const std::string manifest = name + '/' + kManifestName;
    if (step && ::faccessat(directory.value().fd.get(), manifest.c_str(), F_OK, 0) == 0)
      steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

Store::Store(Directory directory, pop::sys::Fd lock, Watch watch)
    : directory_(std::move(directory)), lock_(std::move(lock)), watch_(std::move(watch)) {}

pop::Result<Store> Store::open(const std::string& path, Watch watch) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return cannot("create the directory", path, error.value());
  POP_ASSIGN_OR_RETURN(Directory directory, openDirectory(path));
  POP_ASSIGN_OR_RETURN(pop::sys::Fd locked, lock(directory));
  return Store(std::move(directory), std::move(locked), std::move(watch));
}

void Store::adoptUpTo(std::uint64_t step) {
  const auto steps = completeSteps(directory_.path);
  if (!steps.ok()) return;
  for (const std::uint64_t each : steps.value())
    if (each <= step) ours_.insert(each);
}

pop::Status Store::begin(std::uint64_t step) {
  POP_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> steps, completeSteps(directory_.path));
  if (!steps.empty() && steps.back() >= step) {
    return {pop::Code::kAlreadyExists,
            "there is a checkpoint of step " + std::to_string(steps.back()) +
                " already: go on from that, remove it and those above, or use another directory"};
  }
  POP_ASSIGN_OR_RETURN(const std::vector<std::string> names, namesIn(directory_));
  for (const std::string& name : names)
    if (isLeftover(name)) removeCheckpoint(directory_, name);
  POP_RETURN_IF_ERROR(moveAside(stepName(step)));
  const std::string partial = partialName(step);
  if (::mkdirat(directory_.fd.get(), partial.c_str(), 0777) != 0)
    return cannot("create", directory_.pathOf(partial), errno);
  reach("files");
  return {};
}

/// Moves an entry with a step's name that is no checkpoint: it has lost its manifest, or is something else.
pop::Status Store::moveAside(const std::string& name) const {
  if (::faccessat(directory_.fd.get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0) return {};
  const std::string aside = name + std::string(kIncomplete);
  removeCheckpoint(directory_, aside);
  return rename(name, aside);
}

pop::Status Store::checkFiles(const Directory& partial, const Manifest& manifest) const {
  for (const StoredFile& file : manifest.files) {
    struct stat info {};
    if (::fstatat(partial.fd.get(), file.name.c_str(), &info, 0) != 0 ||
        static_cast<std::uint64_t>(info.st_size) != file.bytes) {
      return pop::failedPrecondition("the instance that has written " + pop::inQuotes(file.name) +
                                     " has written it elsewhere: " + pop::inQuotes(directory_.path) +
                                     " must be on a file system that all hosts share");
    }
  }
  return {};
}

pop::Status Store::rename(const std::string& from, const std::string& to) const {
  if (::renameat(directory_.fd.get(), from.c_str(), directory_.fd.get(), to.c_str()) == 0) return {};
  return cannot("name", directory_.pathOf(to), errno);
}

pop::Status Store::commit(const Manifest& manifest) {
  const std::uint64_t step = manifest.position.step;
  const std::string name = partialName(step);
  POP_ASSIGN_OR_RETURN(const Directory partial, openDirectory(directory_.pathOf(name)));
  POP_RETURN_IF_ERROR(checkFiles(partial, manifest));
  reach("manifest");
  POP_RETURN_IF_ERROR(writeText(partial, kManifestName, textOf(manifest)));
  reach("sync");
  POP_RETURN_IF_ERROR(syncDirectory(partial));
  reach("rename");
  POP_RETURN_IF_ERROR(rename(name, stepName(step)));
  reach("sync the name");
  POP_RETURN_IF_ERROR(syncDirectory(directory_));
  ours_.insert(step);
  reach("prune");
  return {};
}

void Store::abandon(std::uint64_t step) {
  removeCheckpoint(directory_, partialName(step));
}

void Store::prune(int keep) {
  while (keep > 0 && ours_.size() > static_cast<std::size_t>(keep)) {
    const std::string name = stepName(*ours_.begin());
    const std::string doomed = name + std::string(kDeleted);
    if (!rename(name, doomed).ok() && ::faccessat(directory_.fd.get(), name.c_str(), F_OK, 0) == 0) return;
    ours_.erase(ours_.begin());
    reach("delete");
    removeCheckpoint(directory_, doomed);
  }
}

}  // namespace popdist::train
