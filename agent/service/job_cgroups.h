// SPDX-License-Identifier: Apache-2.0
// A cgroup for all processes of a job here: whatever they do to each other, all of them can be killed at
// once, and it is known when none is left. The files are root's, so a job of another user cannot leave its
// group.
//
//   OWN/popdist-agent-RANDOM/     locked by the service, below its own cgroup
//   OWN/popdist-agent-RANDOM/3/   a job's
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::agent {

/// Needs Linux 5.14 (cgroup.kill), cgroup v2, and root.
class JobCgroups {
 public:
  /// Below the cgroup of this process. Ends what a service that was killed has left there. An error: why jobs
  /// have none.
  static Result<std::unique_ptr<JobCgroups>> make();
  ~JobCgroups();
  JobCgroups(const JobCgroups&) = delete;
  JobCgroups& operator=(const JobCgroups&) = delete;

  /// The path of a new one; removeCgroup() removes it.
  Result<std::string> add();

 private:
  JobCgroups(std::string directory, sys::Fd lock);

  const std::string directory_;
  const sys::Fd lock_;
  std::int64_t last_ = 0;
};

/// SIGKILL to all that it has, and to what these start meanwhile.
void killCgroup(const std::string& cgroup);

/// False: it is not empty.
bool removeCgroup(const std::string& cgroup);

}  // namespace pop::agent
