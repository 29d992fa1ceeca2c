// SPDX-License-Identifier: Apache-2.0
// The rights on Pods: allocations bound what a user sees and uses, admins have all.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "common/base/status.h"
#include "popdistd/api/api.h"
#include "popdistd/partitions/partition_table.h"

namespace pop::popdistd {

class PodAccess {
 public:
  explicit PodAccess(std::function<bool(const std::string& user)> is_admin)
      : is_admin_(std::move(is_admin)) {}

  /// By the role of this call: an admin's token of a smaller scope is no admin.
  static bool isAdmin(const Caller& caller) { return caller.role >= v1::ROLE_ADMIN; }
  /// The caller on whose behalf a job with this role runs: an admin's job has admin rights while its user is
  /// an admin. ROLE_NONE: the role was not recorded.
  Caller submitterOf(const std::string& user, v1::Role role) const;
  /// `what`: "create clusters".
  static Status checkManages(const Caller& caller, const std::string& what);

  /// The user's name for PartitionTable, where an empty name may use everything.
  static std::string inTable(const Caller& caller) { return isAdmin(caller) ? "" : caller.user; }

  static bool mayUse(const Caller& caller, const vipu::Allocation& allocation);
  /// True for a caller who is one of the users, or an admin. None: true for every caller.
  static std::function<bool(const Caller&)> anyOf(std::set<std::string> users);
  /// The partition of this id, if the caller may use it; else kNotFound: nothing
  /// is told of partitions of others.
  static Result<const vipu::Partition*> partitionFor(const Caller& caller, const std::string& id,
                                                     const vipu::PartitionTable& table);

 private:
  const std::function<bool(const std::string& user)> is_admin_;
};

}  // namespace pop::popdistd
