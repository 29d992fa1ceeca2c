// SPDX-License-Identifier: Apache-2.0
// The directories of a user's detached jobs on this host: $XDG_STATE_HOME/poprun/jobs (by default
// ~/.local/state/poprun/jobs), one for each job, named by its number, for the user alone. In each:
//
//   spec           what was submitted (common/wire/job_codec.h); with it the directory is a job
//   name           the job's name, if it has one
//   lock           held by the runner while it lives
//   socket         the runner listens here
//   journal, out/  what has happened and what was written (runner/store/record_store.h)
//   outcome        how it ended: written last, whole
//   old            when it was first seen to be of more than 30 days ago (runner/store/job_retention.h)
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::runner {

enum class JobState : std::uint8_t {
  kRunning,  ///< its runner lives, or has not locked the directory yet, for which it has 10 s
  kEnded,    ///< there is an outcome
  kLost,     ///< its runner was killed: neither
};

struct JobEntry {
  int id = 0;
  std::string name;  ///< may be empty
  JobState state = JobState::kRunning;
  std::string path;
  std::chrono::system_clock::time_point begun;
  std::optional<std::chrono::system_clock::time_point> ended;  ///< of a lost one: its last event
};

class JobDirectories {
 public:
  /// The directories of this process's user. kFailedPrecondition: neither XDG_STATE_HOME nor HOME is an
  /// absolute path.
  static Result<JobDirectories> ofUser();
  explicit JobDirectories(std::string root) : root_(std::move(root)) {}

  /// Makes the directory of a new job, with the number after the highest, and writes `spec` there; waits for
  /// other creators. Directories of jobs that ended or were lost go as removeOldJobs() says. kAlreadyExists:
  /// a job of that name runs. kPermissionDenied: root() belongs to another user, or others may write there.
  Result<JobEntry> create(const std::string& name, const std::string& spec) const;

  /// By its number, or by its name: the newest of that name. kNotFound names what was looked for, and lists
  /// the running ones.
  Result<JobEntry> find(const std::string& id_or_name) const;

  /// By number, the smallest first; none if root() does not exist. kPermissionDenied: as of create().
  Result<std::vector<JobEntry>> list() const;

  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

/// Held by the runner as long as it lives, and by forks of it that keep the descriptor. Looking at a job's
/// state never takes it. kAlreadyExists: another process holds it.
Result<sys::Fd> lockJob(const std::string& path);

/// True if the runner lives, or what it has left of the job does, or it has not locked the directory yet, for
/// which it has 10 s.
bool hasRunner(const std::string& path);

Result<std::string> readSpec(const std::string& path);
/// Makes the directory a job's, for who made it otherwise than by create(); whole or not at all.
Status writeSpec(const std::string& path, const std::string& bytes);

/// Takes the space on the disk that the outcome will need, in case the disk is full then.
Status reserveForOutcome(const std::string& path);
/// Writes the outcome so that it is there whole, on the disk, or not at all; in the reserved space if there
/// is no other.
Status writeOutcome(const std::string& path, const std::string& bytes);
/// kNotFound: there is none yet.
Result<std::string> readOutcome(const std::string& path);

}  // namespace pop::runner
