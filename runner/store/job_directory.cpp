// SPDX-License-Identifier: Apache-2.0
#include "runner/store/job_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <system_error>

#include "common/base/text.h"
#include "common/sys/whole_file.h"
#include "runner/store/job_retention.h"
#include "runner/store/job_state.h"

namespace pop::runner {
namespace {

// An outcome with its failure's words; one with many stack traces may need more.
constexpr std::size_t kReservedBytes = 64 << 10;
constexpr const char* kReserve = "reserve";

std::optional<std::string> absoluteFrom(const char* variable) {
  const char* value = ::getenv(variable);
  if (value == nullptr || *value != '/') return std::nullopt;
  return value;
}

// 0: not one.
int jobNumber(const std::string& text) {
  const bool is_plain = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (!is_plain || text[0] == '0') return 0;
  const Result<std::int64_t> number = parseInteger(text);
  return number.ok() && number.value() < std::numeric_limits<int>::max() ? static_cast<int>(number.value())
                                                                         : 0;
}

Status makeDirectories(const std::string& path) {
  for (std::size_t end = path.find('/', 1); true; end = path.find('/', end + 1)) {
    const std::string directory = path.substr(0, end);
    if (::mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      // A file system that is read-only answers so even for directories that exist.
      const int error = errno;
      struct stat status {};
      if (::stat(directory.c_str(), &status) != 0) return errnoStatus("making " + directory, error);
    }
    if (end == std::string::npos) return {};
  }
}

// kNotFound: there is none.
Status checkOwner(const std::string& root) {
  struct stat status {};
  if (::stat(root.c_str(), &status) != 0) return errnoStatus("looking at " + root, errno);
  if (!S_ISDIR(status.st_mode)) return failedPrecondition(root + " is not a directory");
  if (status.st_uid != ::geteuid())
    return {Code::kPermissionDenied, root + " belongs to user " + std::to_string(status.st_uid) +
                                         ", not to you: set XDG_STATE_HOME to a directory of your own"};
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return {Code::kPermissionDenied,
            "others may write to " + root + ": after a look at what is in it, chmod go-w " + root};
  return {};
}

// All numbers with a directory, whether or not there is a job in it.
Result<std::vector<int>> listNumbers(const std::string& root) {
  std::vector<int> numbers;
  std::error_code error;
  std::filesystem::directory_iterator entry(root, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (const int number = jobNumber(entry->path().filename().native()); number > 0)
      numbers.push_back(number);
  }
  if (error) return errnoStatus("listing " + root, error.value());
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<JobEntry> lookAtJobs(const std::string& root, const std::vector<int>& numbers) {
  std::vector<JobEntry> jobs;
  jobs.reserve(numbers.size());
  for (const int number : numbers) {
    if (std::optional<JobEntry> job = lookAtJob(root, number)) jobs.push_back(std::move(*job));
  }
  return jobs;
}

std::string described(const JobEntry& job) {
  return std::to_string(job.id) + (job.name.empty() ? "" : " " + inQuotes(job.name));
}

// One creator at a time: so the name of a running job stays its own, and a directory without a job is
// nobody's.
Result<sys::Fd> lockRoot(const std::string& root) {
  POP_ASSIGN_OR_RETURN(sys::Fd file, sys::openRegular(root + "/lock", O_RDWR | O_CREAT));
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return errnoStatus("locking " + root + "/lock", errno);
  }
  return file;
}

Result<int> makeNext(const std::string& root, int number) {
  while (::mkdir((root + "/" + std::to_string(number)).c_str(), S_IRWXU) != 0) {
    if (errno != EEXIST) return errnoStatus("making a job's directory in " + root, errno);
    ++number;
  }
  return number;
}

// The spec last: with it the directory is a job.
Status fill(const std::string& path, const std::string& name, const std::string& spec) {
  if (!name.empty()) POP_RETURN_IF_ERROR(sys::replaceFile(path, "name", name));
  return writeSpec(path, spec);
}

}  // namespace

Result<JobDirectories> JobDirectories::ofUser() {
  if (const auto state = absoluteFrom("XDG_STATE_HOME")) return JobDirectories(*state + "/poprun/jobs");
  if (const auto home = absoluteFrom("HOME")) return JobDirectories(*home + "/.local/state/poprun/jobs");
  return failedPrecondition(
      "there is no place for detached jobs: neither XDG_STATE_HOME nor HOME is an absolute path; set one of "
      "them");
}

Result<JobEntry> JobDirectories::create(const std::string& name, const std::string& spec) const {
  POP_RETURN_IF_ERROR(makeDirectories(root_));
  POP_RETURN_IF_ERROR(checkOwner(root_));
  POP_ASSIGN_OR_RETURN(const sys::Fd lock, lockRoot(root_));
  POP_ASSIGN_OR_RETURN(const std::vector<int> numbers, listNumbers(root_));
  const std::vector<JobEntry> jobs = lookAtJobs(root_, numbers);
  for (const JobEntry& job : jobs) {
    if (!name.empty() && job.name == name && job.state == JobState::kRunning)
      return Status(Code::kAlreadyExists,
                    "job " + described(job) + " is running: take another name, or end it");
  }
  for (const int number : numbers) removeUnfinished(root_, number);
  removeOldJobs(jobs, std::chrono::system_clock::now());

  POP_ASSIGN_OR_RETURN(const int number, makeNext(root_, numbers.empty() ? 1 : numbers.back() + 1));
  const std::string path = root_ + "/" + std::to_string(number);
  if (Status status = fill(path, name, spec); !status.ok()) {
    removeUnfinished(root_, number);
    return status;
  }
  if (std::optional<JobEntry> job = lookAtJob(root_, number)) return std::move(*job);
  return unavailable(path + " has vanished while it was made");
}

Result<JobEntry> JobDirectories::find(const std::string& id_or_name) const {
  POP_ASSIGN_OR_RETURN(const std::vector<JobEntry> jobs, list());
  const int number = jobNumber(id_or_name);
  for (const JobEntry& job : jobs) {
    if (job.id == number) return job;
  }
  const JobEntry* newest = nullptr;
  std::vector<std::string> running;
  for (const JobEntry& job : jobs) {
    if (!job.name.empty() && job.name == id_or_name) newest = &job;
    if (job.state == JobState::kRunning) running.push_back(described(job));
  }
  if (newest != nullptr) return *newest;
  return Status(Code::kNotFound,
                "there is no job " + inQuotes(id_or_name) + " in " + root_ + "; " +
                    (running.empty() ? "none is running" : "running: " + join(running, ", ")));
}

Result<std::vector<JobEntry>> JobDirectories::list() const {
  const Status status = checkOwner(root_);
  if (status.code() == Code::kNotFound) return std::vector<JobEntry>();
  if (!status.ok()) return status;
  POP_ASSIGN_OR_RETURN(const std::vector<int> numbers, listNumbers(root_));
  return lookAtJobs(root_, numbers);
}

Result<std::string> readSpec(const std::string& path) {
  return sys::readRegular(path + "/spec");
}

Status writeSpec(const std::string& path, const std::string& bytes) {
  return sys::replaceFile(path, "spec", bytes);
}

Status reserveForOutcome(const std::string& path) {
  return sys::replaceFile(path, kReserve, std::string(kReservedBytes, '\0'));
}

Status writeOutcome(const std::string& path, const std::string& bytes) {
  const Status written = sys::replaceFileDurably(path, "outcome", bytes);
  ::unlink((path + "/" + kReserve).c_str());
  return written.code() == Code::kResourceExhausted ? sys::replaceFileDurably(path, "outcome", bytes)
                                                    : written;
}

Result<std::string> readOutcome(const std::string& path) {
  return sys::readRegular(path + "/outcome");
}

}  // namespace pop::runner
