// SPDX-License-Identifier: Apache-2.0
// The directories of the runners that the cluster's daemon has had started on this host:
//
//   STATE/lock                            of the one service that has the directory
//   STATE/cluster                         the cluster that this host was in last, and its popdistd's epoch
//   STATE/jobs/CLUSTER/JOB.ATTEMPT/       a runner's, for the job's user alone
//
// The service owns all above a runner's directory: no other user can make, replace or list anything there.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "agent/service/unix_user.h"
#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::agent {

/// A runner: of a job of a cluster, and of one attempt to start it.
struct RunnerId {
  std::string cluster;
  std::int64_t job = 0;
  std::int32_t attempt = 0;

  friend auto operator<=>(const RunnerId&, const RunnerId&) = default;
};

/// "12.1", as in names of directories.
std::string textOf(const RunnerId& id);

class RunnerDirectories {
 public:
  /// `state`: an absolute path; see defaultState().
  explicit RunnerDirectories(std::string state) : state_(std::move(state)) {}

  /// Makes STATE and STATE/jobs. kPermissionDenied: others could change what is there.
  Status prepare() const;

  /// The directory is this process's while the file is open. kAlreadyExists: another service has it, so its
  /// runners are not ours to speak of.
  Result<sys::Fd> take() const;

  /// The cluster that this host was in last; empty: none.
  Result<std::string> cluster() const;
  /// The largest of that cluster; 0: none is known.
  Result<std::uint64_t> epoch() const;
  /// Remembers both and makes the cluster's directory. kInvalidArgument: the name cannot be one of a
  /// directory.
  Status enter(const std::string& cluster, std::uint64_t epoch) const;

  std::string pathOf(const RunnerId& id) const;

  /// Makes the directory for `user`. kAlreadyExists: it is there.
  Status create(const RunnerId& id, const UnixUser& user) const;

  /// All of a cluster, by number; none if the cluster has none.
  Result<std::vector<RunnerId>> list(const std::string& cluster) const;

  /// kNotFound: there is no such directory.
  Result<uid_t> ownerOf(const RunnerId& id) const;

  /// Removes an empty directory. Ok: it is not there.
  Status remove(const RunnerId& id) const;

 private:
  std::string directoryOf(const std::string& cluster) const { return state_ + "/jobs/" + cluster; }

  const std::string state_;
};

/// /var/lib/popdist for root, ~/.local/state/popdist for others.
std::string defaultState(const UnixUser& self);

}  // namespace pop::agent
