// SPDX-License-Identifier: Apache-2.0
#include "runner/store/job_state.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "common/sys/whole_file.h"

namespace pop::runner {
namespace {

using Time = std::chrono::system_clock::time_point;

// From the job's directory until its runner has locked it.
constexpr std::chrono::seconds kTimeToBegin{10};

std::optional<Time> changedAt(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const auto since_epoch =
      std::chrono::seconds(status.st_mtim.tv_sec) + std::chrono::nanoseconds(status.st_mtim.tv_nsec);
  return Time(std::chrono::duration_cast<Time::duration>(since_epoch));
}

// Only asks: a lock that is taken for a look would make the runner's own fail.
bool isLocked(const sys::Fd& file) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace

bool hasRunner(const std::string& path) {
  const Result<sys::Fd> file = sys::openRegular(path + "/lock", O_RDONLY);
  if (file.ok()) return isLocked(file.value());
  if (file.code() != Code::kNotFound) return true;  // it cannot be told
  const std::optional<Time> begun = changedAt(path + "/spec");
  return begun && std::chrono::system_clock::now() - *begun < kTimeToBegin;
}

std::optional<JobEntry> lookAtJob(const std::string& root, int id) {
  JobEntry job{.id = id, .name = {}, .path = root + "/" + std::to_string(id), .begun = {}, .ended = {}};
  const std::optional<Time> begun = changedAt(job.path + "/spec");
  if (!begun) return std::nullopt;
  job.begun = *begun;
  if (Result<std::string> name = sys::readRegular(job.path + "/name"); name.ok())
    job.name = std::move(name).value();
  const std::string outcome = job.path + "/outcome";
  job.ended = changedAt(outcome);
  if (!job.ended && hasRunner(job.path)) return job;
  // The runner may have ended since the first look.
  if (!job.ended) job.ended = changedAt(outcome);
  job.state = job.ended ? JobState::kEnded : JobState::kLost;
  if (!job.ended) job.ended = changedAt(job.path + "/journal");
  return job;
}

Result<sys::Fd> lockJob(const std::string& path) {
  const std::string lock_path = path + "/lock";
  POP_ASSIGN_OR_RETURN(sys::Fd file, sys::openRegular(lock_path, O_RDWR | O_CREAT));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return file;
  if (errno == EAGAIN || errno == EACCES)
    return Status(Code::kAlreadyExists, "another process runs the job in " + path);
  return errnoStatus("locking " + lock_path, errno);
}

}  // namespace pop::runner
