// SPDX-License-Identifier: Apache-2.0
#include "popdistd/pods/pod_access.h"

#include <utility>

#include "common/base/text.h"
#include "popdistd/partitions/partition_plan.h"

namespace pop::popdistd {

// The role for each call is checked in front of this (popdistd/access/policy.h).
Status PodAccess::checkManages(const Caller& caller, const std::string& what) {
  if (caller.role >= v1::ROLE_OPERATOR) return {};
  return {Code::kPermissionDenied,
          "user " + inQuotes(caller.user) + " may not " + what + ": that is for operators and admins"};
}

Caller PodAccess::submitterOf(const std::string& user, v1::Role role) const {
  const bool was_admin = role == v1::ROLE_NONE || role >= v1::ROLE_ADMIN;
  return {.user = user,
          .peer = {},
          .role = was_admin && is_admin_(user) ? v1::ROLE_ADMIN : v1::ROLE_SUBMIT,
          .token = {},
          .session = {}};
}

bool PodAccess::mayUse(const Caller& caller, const vipu::Allocation& allocation) {
  return isAdmin(caller) || vipu::mayUse(caller.user, allocation);
}

std::function<bool(const Caller&)> PodAccess::anyOf(std::set<std::string> users) {
  return [users = std::move(users)](const Caller& caller) {
    return isAdmin(caller) || users.empty() || users.contains(caller.user);
  };
}

Result<const vipu::Partition*> PodAccess::partitionFor(const Caller& caller, const std::string& id,
                                                       const vipu::PartitionTable& table) {
  const vipu::Partition* const partition = table.find(id);
  const bool is_seen =
      partition != nullptr && mayUse(caller, *table.inventory().allocation(partition->spec.allocation));
  if (is_seen) return partition;
  return Status(Code::kNotFound,
                "there is no partition " + inQuotes(id) + ", or not for user " + inQuotes(caller.user));
}

}  // namespace pop::popdistd
