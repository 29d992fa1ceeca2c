// SPDX-License-Identifier: Apache-2.0
// The quotas of users and allocations, and the usage of users: in memory, as the store has it.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "popdistd/common/commits.h"
#include "popdistd/queue/fair_share.h"
#include "popdistd/queue/quota.h"
#include "proto/popdist/v1/store.pb.h"

namespace pop::popdistd {

/// "user alice", "allocation team", "each user": for messages.
std::string nameOf(const v1::QuotaRef& ref);

/// The limit of queued jobs for a user whose quota sets none.
inline constexpr int kUsualQueuedJobs = 20'000;

class QuotaTable {
 public:
  QuotaTable(Store& store, Commits& commits) : store_(store), commits_(commits) {}

  /// Replaces all by what the store has. kDataLoss: it cannot be read.
  Status load();

  /// In the place of the one that is there. kInvalidArgument names every mistake.
  Status set(v1::QuotaInfo quota);
  /// kNotFound.
  Status remove(const v1::QuotaRef& ref);

  /// As they are set, by kind and name.
  using Key = std::pair<int, std::string>;
  const std::map<Key, v1::QuotaInfo>& all() const { return quotas_; }

  /// Always limits waiting jobs: to kUsualQueuedJobs where no quota says another number.
  queue::Limits ofUser(const std::string& user) const;
  queue::Limits ofAllocation(const std::string& allocation) const;
  double shareOf(const std::string& user) const;

  /// The use, in seconds, for which the user's jobs that have ended count at this time. Times are those of
  /// SeenTime.
  double usedBy(const std::string& user, queue::Time now) const;
  /// A job has ended, which has used so much.
  void addUse(const std::string& user, double seconds, queue::Time now);

 private:
  const v1::QuotaInfo* find(v1::QuotaKind kind, const std::string& name) const;

  Store& store_;
  Commits& commits_;
  std::map<Key, v1::QuotaInfo> quotas_;
  std::map<std::string, queue::Usage> usage_;
};

}  // namespace pop::popdistd
