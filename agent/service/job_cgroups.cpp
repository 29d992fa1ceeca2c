// SPDX-License-Identifier: Apache-2.0
#include "agent/service/job_cgroups.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/sys/random_name.h"

namespace pop::agent {
namespace {

constexpr std::string_view kPrefix = "popdist-agent-";
constexpr mode_t kMode = 0755;
constexpr int kMostTries = 100;  // each needs a service that begins at the same moment

Status write(const std::string& path, std::string_view text) {
  const sys::Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return errnoStatus("opening " + path, errno);
  return sys::writeAll(file.get(), text).during("writing to " + path);
}

// The mount point of cgroup v2, and the mounted part of it: "31 23 0:28 ROOT POINT … - cgroup2 …".
Result<std::pair<std::string, std::string>> mounted() {
  POP_ASSIGN_OR_RETURN(const std::string text, sys::readFile("/proc/self/mountinfo"));
  for (const std::string& line : split(text, '\n')) {
    const std::vector<std::string> words = split(line, ' ');
    if (words.size() > 4 && line.find(" - cgroup2 ") != std::string::npos)
      return std::pair(words[3], words[4]);
  }
  return failedPrecondition("cgroup v2 is not mounted");
}

// The directory of this process's cgroup.
Result<std::string> ownCgroup() {
  POP_ASSIGN_OR_RETURN(const auto mount, mounted());
  const auto& [root, point] = mount;
  POP_ASSIGN_OR_RETURN(const std::string text, sys::readFile("/proc/self/cgroup"));
  for (const std::string& line : split(text, '\n')) {
    if (!line.starts_with("0::/")) continue;
    const std::string path = line.substr(3);
    const bool is_below = root == "/" || path == root || path.starts_with(root + '/');
    if (!is_below || path.find("/..") != std::string::npos) break;
    return point + (root == "/" ? path : path.substr(root.size()));
  }
  return failedPrecondition("this process's cgroup is not below " + point);
}

// Held by the service that has it, and free when that was killed.
sys::Fd lock(const std::string& directory) {
  sys::Fd file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.valid() && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) file.reset();
  return file;
}

std::vector<std::string> directoriesIn(const std::string& directory, std::string_view prefix) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_directory(error) && entry->path().filename().native().starts_with(prefix))
      found.push_back(entry->path().native());
  }
  return found;
}

void endLeftovers(const std::string& own) {
  for (const std::string& directory : directoriesIn(own, kPrefix)) {
    const sys::Fd locked = lock(directory);
    if (!locked.valid()) continue;
    killCgroup(directory);
    for (const std::string& job : directoriesIn(directory, "")) ::rmdir(job.c_str());
    ::rmdir(directory.c_str());  // a process that still dies keeps it for the next service
  }
}

// Another service that begins now may take it for a leftover before it is locked, and remove it.
Result<std::pair<std::string, sys::Fd>> lockedDirectory(const std::string& own) {
  for (int i = 0; i < kMostTries; ++i) {
    std::string directory = own + '/' + std::string(kPrefix) + sys::randomName();
    if (::mkdir(directory.c_str(), kMode) != 0) return errnoStatus("making " + directory, errno);
    sys::Fd held = lock(directory);
    if (held.valid() && ::access(directory.c_str(), F_OK) == 0)
      return std::pair(std::move(directory), std::move(held));
  }
  return unavailable("other processes remove the directories that the service makes in " + own);
}

}  // namespace

Result<std::unique_ptr<JobCgroups>> JobCgroups::make() {
  if (::geteuid() != 0) return failedPrecondition("the service does not run as root");
  POP_ASSIGN_OR_RETURN(const std::string own, ownCgroup());
  endLeftovers(own);
  POP_ASSIGN_OR_RETURN(auto locked, lockedDirectory(own));
  auto& [directory, held] = locked;
  std::unique_ptr<JobCgroups> made(new JobCgroups(directory, std::move(held)));
  if (::access((directory + "/cgroup.kill").c_str(), W_OK) != 0)
    return failedPrecondition("this kernel has no cgroup.kill (Linux 5.14)");
  if (::syscall(SYS_clone3, nullptr, 0) < 0 && errno == ENOSYS)
    return failedPrecondition("a filter of system calls forbids clone3, which starts jobs in cgroups");
  return made;
}

JobCgroups::JobCgroups(std::string directory, sys::Fd lock)
    : directory_(std::move(directory)), lock_(std::move(lock)) {}

JobCgroups::~JobCgroups() {
  ::rmdir(directory_.c_str());
}

Result<std::string> JobCgroups::add() {
  std::string path = directory_ + '/' + std::to_string(++last_);
  if (::mkdir(path.c_str(), kMode) != 0) return errnoStatus("making the job's cgroup " + path, errno);
  return path;
}

void killCgroup(const std::string& cgroup) {
  static_cast<void>(write(cgroup + "/cgroup.kill", "1").ok());
}

bool removeCgroup(const std::string& cgroup) {
  return ::rmdir(cgroup.c_str()) == 0 || errno == ENOENT;
}

}  // namespace pop::agent
