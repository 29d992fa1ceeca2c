// SPDX-License-Identifier: Apache-2.0
// Who may do what with Pods: allocations bound what a user sees and uses, admins have all.
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
  /// Who asks for a job that was submitted with this role: an admin's job is one's while its user is an
  /// admin. ROLE_NONE: nobody has written the role down.
  Caller submitterOf(const std::string& user, v1::Role role) const;
  /// `what`: "create clusters".
  static Status checkManages(const Caller& caller, const std::string& what);

  /// For PartitionTable, where nobody may use everything.
  static std::string inTable(const Caller& caller) { return isAdmin(caller) ? "" : caller.user; }

  static bool mayUse(const Caller& caller, const vipu::Allocation& allocation);
  /// The caller is one of them, or an admin. None: everybody is.
  static std::function<bool(const Caller&)> anyOf(std::set<std::string> users);
  /// The partition of this id, if the caller may use it; else kNotFound: nothing
  /// is told of partitions of others.
  static Result<const vipu::Partition*> partitionFor(const Caller& caller, const std::string& id,
                                                     const vipu::PartitionTable& table);

 private:
  const std::function<bool(const std::string& user)> is_admin_;
};

}  // namespace pop::popdistd
