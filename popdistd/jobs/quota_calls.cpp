// SPDX-License-Identifier: Apache-2.0
// The calls of clients about quotas, and the check of a submitted job against them.
#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "popdistd/jobs/daemon_core.h"
#include "popdistd/jobs/life/queue_input.h"

namespace pop::popdistd {
namespace {

void addTo(v1::QuotaUse& use, const queue::Shape& job) {
  use.set_running_jobs(use.running_jobs() + 1);
  use.set_instances(use.instances() + job.instances);
  use.set_ipus(use.ipus() + job.ipus);
}

// The daemon has them all in memory, twice as large.
constexpr std::int64_t kMostWaitingBytes = 64 << 20;

Status mayQueue(const queue::Account& account, int waiting, const queue::Shape& job) {
  const std::optional<int>& limit = account.limits.queued_jobs;
  if (limit && waiting >= *limit)
    return {Code::kResourceExhausted, "quota: " + account.name + " has " + std::to_string(waiting) + " of " +
                                          counted(*limit, "job") +
                                          " waiting: submit it again when one has started"};
  if (const std::string why = queue::whyNever(account, job); !why.empty())
    return failedPrecondition("quota: " + why + ", so it would wait for ever");
  return {};
}

}  // namespace

Status DaemonCore::mayWait(const Caller& caller, const Job& job) const {
  const queue::Shape shape = useOf(job);
  const queue::Account user{.name = "user " + caller.user, .limits = quotas_.ofUser(caller.user)};
  POP_RETURN_IF_ERROR(mayQueue(user, jobs_.waitingOf(caller.user), shape));
  const auto bytes = static_cast<std::int64_t>(job.record.spec().size());
  if (jobs_.waitingBytesOf(caller.user) + bytes > kMostWaitingBytes)
    return {Code::kResourceExhausted,
            "user " + caller.user +
                "'s jobs that wait would take more than 64 MiB with this one, which is "
                "the most: submit it again when some have started"};
  const std::string& name = job.record.allocation();
  if (name.empty()) return {};
  POP_RETURN_IF_ERROR(pods_.checkAllocation(caller, name));
  const queue::Account allocation{.name = "allocation " + name, .limits = quotas_.ofAllocation(name)};
  return mayQueue(allocation, jobs_.waitingIn(name), shape);
}

void DaemonCore::setQuota(const Caller& caller, v1::QuotaInfo quota, Reply<v1::QuotaInfo> reply) {
  if (const Status allowed = checkManages(caller, "set quotas"); !allowed.ok()) return reply(allowed);
  if (quota.of().kind() == v1::QUOTA_ALLOCATION) {
    if (const Status known = pods_.checkAllocation(caller, quota.of().name()); !known.ok())
      return reply(known);
  }
  const v1::QuotaRef ref = quota.of();
  if (const Status set = quotas_.set(std::move(quota)); !set.ok()) return reply(set);
  lives_.scheduleSoon();
  commits_.whenDurable([this, ref, reply](const Status& status) {
    if (!status.ok()) return reply(status);
    const auto found = quotas_.all().find({static_cast<int>(ref.kind()), ref.name()});
    if (found == quotas_.all().end()) return reply(Status(Code::kNotFound, nameOf(ref) + " has no quota"));
    reply(view(found->second));
  });
}

void DaemonCore::removeQuota(const Caller& caller, v1::QuotaRef ref, Reply<v1::Nothing> reply) {
  if (const Status allowed = checkManages(caller, "remove quotas"); !allowed.ok()) return reply(allowed);
  if (const Status removed = quotas_.remove(ref); !removed.ok()) return reply(removed);
  lives_.scheduleSoon();
  commits_.whenDurable([reply](const Status& status) { status.ok() ? reply(v1::Nothing()) : reply(status); });
}

void DaemonCore::listQuotas(const Caller& caller, v1::ListQuotasRequest, Reply<v1::ListQuotasReply> reply) {
  v1::ListQuotasReply list;
  for (const auto& [key, quota] : quotas_.all()) {
    const std::string& name = quota.of().name();
    const bool is_own = quota.of().kind() == v1::QUOTA_USER ? name == caller.user || name == "*"
                                                            : pods_.checkAllocation(caller, name).ok();
    if (is_own || manages(caller)) *list.add_quotas() = view(quota);
  }
  reply(std::move(list));
}

v1::QuotaInfo DaemonCore::view(const v1::QuotaInfo& quota) {
  v1::QuotaInfo info = quota;
  const std::string& name = quota.of().name();
  const bool is_user = quota.of().kind() == v1::QUOTA_USER;
  if (is_user && name == "*") return info;
  v1::QuotaUse& use = *info.mutable_use();
  const queue::Time seen = std::chrono::floor<std::chrono::milliseconds>(seen_.now());
  double used_s = is_user ? quotas_.usedBy(name, seen) : 0;
  use.set_queued_jobs(is_user ? jobs_.waitingOf(name) : jobs_.waitingIn(name));
  for (const std::int64_t id : jobs_.active()) {
    const Job& job = *jobs_.find(id);
    if ((is_user ? job.info().user() : job.info().allocation()) != name) continue;
    addTo(use, useOf(job));
    if (is_user) used_s += usedSoFar(job, seen);
  }
  use.set_recent_hours(used_s / 3600);
  return info;
}

}  // namespace pop::popdistd
