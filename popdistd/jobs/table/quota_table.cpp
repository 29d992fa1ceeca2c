// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/table/quota_table.h"

#include <cmath>
#include <optional>
#include <vector>

#include "common/base/text.h"

namespace pop::popdistd {
namespace {

constexpr const char* kEachUser = "*";

QuotaTable::Key keyOf(const v1::QuotaRef& ref) {
  return {static_cast<int>(ref.kind()), ref.name()};
}

// As the store names it.
std::string recordName(const v1::QuotaRef& ref) {
  return (ref.kind() == v1::QUOTA_USER ? "user " : "allocation ") + ref.name();
}

queue::Limits limitsOf(const v1::QuotaInfo* quota) {
  queue::Limits limits;
  if (quota == nullptr) return limits;
  if (quota->has_queued_jobs()) limits.queued_jobs = quota->queued_jobs();
  if (quota->has_running_jobs()) limits.running_jobs = quota->running_jobs();
  if (quota->has_instances()) limits.instances = quota->instances();
  if (quota->has_ipus()) limits.ipus = quota->ipus();
  return limits;
}

Status check(const v1::QuotaInfo& quota) {
  std::vector<std::string> mistakes;
  const auto atLeast = [&](bool is_set, int value, int least, const char* name) {
    if (is_set && value < least)
      mistakes.push_back(std::string(name) + " is " + std::to_string(value) + ", which is less than " +
                         std::to_string(least));
  };
  const std::string& name = quota.of().name();
  if (!v1::QuotaKind_IsValid(quota.of().kind()))
    mistakes.push_back("of.kind is neither a user nor an allocation");
  if (name.empty() || printable(name) != name)
    mistakes.push_back("of.name is " + inQuotes(name) + ": name a user, an allocation, or * for each user");
  if (quota.of().kind() == v1::QUOTA_ALLOCATION && name == kEachUser)
    mistakes.push_back("of.name is '*', which stands for users only");
  if (quota.of().kind() == v1::QUOTA_ALLOCATION && quota.has_share())
    mistakes.push_back("share is a user's: an allocation has none");
  atLeast(quota.has_queued_jobs(), quota.queued_jobs(), 0, "queued_jobs");
  atLeast(quota.has_running_jobs(), quota.running_jobs(), 0, "running_jobs");
  atLeast(quota.has_instances(), quota.instances(), 0, "instances");
  atLeast(quota.has_ipus(), quota.ipus(), 0, "ipus");
  atLeast(quota.has_share(), quota.share(), 1, "share");
  if (!quota.has_queued_jobs() && !quota.has_running_jobs() && !quota.has_instances() && !quota.has_ipus() &&
      !quota.has_share())
    mistakes.push_back("it limits nothing: give queued_jobs, running_jobs, instances, ipus or share");
  return mistakes.empty() ? Status() : invalidArgument(join(mistakes, "\n"));
}

}  // namespace

std::string nameOf(const v1::QuotaRef& ref) {
  if (ref.kind() == v1::QUOTA_USER && ref.name() == kEachUser) return "each user";
  return printable(recordName(ref));
}

Status QuotaTable::load() {
  POP_ASSIGN_OR_RETURN(const std::vector<NamedRecord> records, store_.records(RecordKind::kQuota));
  POP_ASSIGN_OR_RETURN(const std::vector<StoredUsage> usage, store_.usage());
  quotas_.clear();
  for (const NamedRecord& each : records) {
    v1::QuotaRecord record;
    if (!record.ParseFromString(each.bytes) || recordName(record.info().of()) != each.name)
      return {Code::kDataLoss,
              "the store's record of the quota of " + printable(each.name) + " cannot be read"};
    quotas_[keyOf(record.info().of())] = record.info();
  }
  usage_.clear();
  for (const StoredUsage& each : usage)
    usage_[each.user] = {static_cast<double>(each.amount_ms) / 1000,
                         queue::Time(std::chrono::milliseconds(each.at_ms))};
  return {};
}

Status QuotaTable::set(v1::QuotaInfo quota) {
  POP_RETURN_IF_ERROR(check(quota));
  quota.clear_use();
  v1::QuotaRecord record;
  *record.mutable_info() = quota;
  commits_.wrote(store_.putRecord(RecordKind::kQuota, recordName(quota.of()), record.SerializeAsString()));
  quotas_[keyOf(quota.of())] = std::move(quota);
  return {};
}

Status QuotaTable::remove(const v1::QuotaRef& ref) {
  if (quotas_.erase(keyOf(ref)) == 0) return {Code::kNotFound, nameOf(ref) + " has no quota"};
  commits_.wrote(store_.removeRecord(RecordKind::kQuota, recordName(ref)));
  return {};
}

const v1::QuotaInfo* QuotaTable::find(v1::QuotaKind kind, const std::string& name) const {
  const auto found = quotas_.find({static_cast<int>(kind), name});
  return found == quotas_.end() ? nullptr : &found->second;
}

queue::Limits QuotaTable::ofUser(const std::string& user) const {
  const v1::QuotaInfo* const own = find(v1::QUOTA_USER, user);
  queue::Limits limits = limitsOf(own != nullptr ? own : find(v1::QUOTA_USER, kEachUser));
  if (!limits.queued_jobs) limits.queued_jobs = kUsualQueuedJobs;
  return limits;
}

queue::Limits QuotaTable::ofAllocation(const std::string& allocation) const {
  return limitsOf(find(v1::QUOTA_ALLOCATION, allocation));
}

double QuotaTable::shareOf(const std::string& user) const {
  const v1::QuotaInfo* own = find(v1::QUOTA_USER, user);
  if (own == nullptr) own = find(v1::QUOTA_USER, kEachUser);
  return own != nullptr && own->has_share() ? own->share() : 1;
}

double QuotaTable::usedBy(const std::string& user, queue::Time now) const {
  const auto found = usage_.find(user);
  return found == usage_.end() ? 0 : queue::decayed(found->second, now);
}

void QuotaTable::addUse(const std::string& user, double seconds, queue::Time now) {
  const queue::Usage usage{usedBy(user, now) + seconds, now};
  usage_[user] = usage;
  commits_.wrote(store_.putUsage({user, std::llround(usage.amount * 1000), now.time_since_epoch().count()}));
}

}  // namespace pop::popdistd
