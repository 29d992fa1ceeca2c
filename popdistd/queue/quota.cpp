// SPDX-License-Identifier: Apache-2.0
#include "popdistd/queue/quota.h"

#include "common/base/text.h"

namespace pop::queue {
namespace {

bool isOver(const std::optional<int>& limit, int wanted) {
  return limit && wanted > *limit;
}

std::string uses(const Account& account, int used, int limit, int needed, const char* noun) {
  return account.name + " uses " + std::to_string(used) + " of " + counted(limit, noun) + ", and it needs " +
         std::to_string(needed);
}

std::string needsMore(const Account& account, int needed, int limit, const char* noun) {
  return "it needs " + counted(needed, noun) + ", and " + account.name + " may have " + std::to_string(limit);
}

}  // namespace

bool allows(const Account& account, const Shape& shape) {
  return !isOver(account.limits.running_jobs, account.jobs + 1) &&
         !isOver(account.limits.instances, account.instances + shape.instances) &&
         !isOver(account.limits.ipus, account.ipus + shape.ipus);
}

std::string whyNever(const Account& account, const Shape& shape) {
  const Limits& limits = account.limits;
  if (isOver(limits.running_jobs, 1)) return account.name + " may have no jobs running";
  if (isOver(limits.instances, shape.instances))
    return needsMore(account, shape.instances, *limits.instances, "instance");
  if (isOver(limits.ipus, shape.ipus)) return needsMore(account, shape.ipus, *limits.ipus, "IPU");
  return "";
}

std::string whyNot(const Account& account, const Shape& shape) {
  if (std::string never = whyNever(account, shape); !never.empty()) return never;
  const Limits& limits = account.limits;
  if (isOver(limits.running_jobs, account.jobs + 1))
    return account.name + " has " + std::to_string(account.jobs) + " of " +
           counted(*limits.running_jobs, "job") + " running";
  if (isOver(limits.instances, account.instances + shape.instances))
    return uses(account, account.instances, *limits.instances, shape.instances, "instance");
  if (isOver(limits.ipus, account.ipus + shape.ipus))
    return uses(account, account.ipus, *limits.ipus, shape.ipus, "IPU");
  return "";
}

}  // namespace pop::queue
