// SPDX-License-Identifier: Apache-2.0
// Who may do what with Pods: allocations bound what a user sees and uses, admins have all.
#pragma once

#include <functional>
#include <string>

#include "common/base/status.h"
#include "popdistd/api/api.h"
#include "popdistd/vipu/partition_table.h"

namespace pop::popdistd {

class PodAccess {
 public:
  explicit PodAccess(std::function<bool(const std::string& user)> is_admin)
      : is_admin_(std::move(is_admin)) {}

  bool isAdmin(const std::string& user) const { return is_admin_(user); }
  /// `what`: "create clusters".
  static Status checkManages(const Caller& caller, const std::string& what);

  /// For PartitionTable, where nobody may use everything.
  std::string inTable(const Caller& caller) const { return isAdmin(caller.user) ? "" : caller.user; }

  bool mayUse(const std::string& user, const vipu::Allocation& allocation) const;
  /// The partition of this id, if the user may use it. kNotFound, kPermissionDenied.
  Result<const vipu::Partition*> partitionFor(const std::string& user, const std::string& id,
                                              const vipu::PartitionTable& table) const;

 private:
  const std::function<bool(const std::string& user)> is_admin_;
};

}  // namespace pop::popdistd
