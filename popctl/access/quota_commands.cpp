// SPDX-License-Identifier: Apache-2.0
// Quotas: set, listed with what is in use, removed.
#include <cstdio>
#include <string>
#include <vector>

#include "common/base/text.h"
#include "popctl/answered.h"
#include "popctl/commands.h"
#include "poprun/ui/text_table.h"

namespace pop::popctl {
namespace {

v1::QuotaRef refOf(const QuotaOptions& options) {
  v1::QuotaRef ref;
  ref.set_kind(options.user.empty() ? v1::QUOTA_ALLOCATION : v1::QUOTA_USER);
  ref.set_name(options.user.empty() ? options.allocation : options.user);
  return ref;
}

v1::QuotaInfo quotaOf(const QuotaOptions& options) {
  v1::QuotaInfo quota;
  *quota.mutable_of() = refOf(options);
  if (options.queued) quota.set_queued_jobs(*options.queued);
  if (options.running) quota.set_running_jobs(*options.running);
  if (options.instances) quota.set_instances(*options.instances);
  if (options.ipus) quota.set_ipus(*options.ipus);
  if (options.share) quota.set_share(*options.share);
  return quota;
}

// "3 of 8", "3 of -" where there is no limit, "8" of each user.
std::string ofText(bool has_use, int used, bool has_limit, int limit) {
  const std::string most = has_limit ? std::to_string(limit) : "-";
  return has_use ? std::to_string(used) + " of " + most : most;
}

std::string hoursText(const v1::QuotaInfo& quota) {
  if (!quota.has_use() || quota.of().kind() != v1::QUOTA_USER) return "-";
  char text[32];
  static_cast<void>(std::snprintf(text, sizeof text, "%.1f h", quota.use().recent_hours()));
  return text;
}

std::string quotasTable(const v1::ListQuotasReply& reply) {
  if (reply.quotas().empty()) return "no quotas\n";
  std::vector<std::vector<std::string>> rows{
      {"KIND", "NAME", "QUEUED", "RUNNING", "INSTANCES", "IPUS", "SHARE", "RECENT USE"}};
  for (const v1::QuotaInfo& each : reply.quotas()) {
    const v1::QuotaUse& use = each.use();
    const bool has_use = each.has_use();
    rows.push_back({each.of().kind() == v1::QUOTA_USER ? "user" : "allocation", printable(each.of().name()),
                    ofText(has_use, use.queued_jobs(), each.has_queued_jobs(), each.queued_jobs()),
                    ofText(has_use, use.running_jobs(), each.has_running_jobs(), each.running_jobs()),
                    ofText(has_use, use.instances(), each.has_instances(), each.instances()),
                    ofText(has_use, use.ipus(), each.has_ipus(), each.ipus()),
                    each.has_share() ? std::to_string(each.share()) : "-", hoursText(each)});
  }
  return textTable(rows);
}

}  // namespace

int askOfQuotas(const Command& command, ControllerClient& client) {
  if (command.action == Action::kListQuotas) return shown(command, client.listQuotas({}), quotasTable);
  Command named = command;
  named.object = refOf(command.quota).name();
  if (command.action == Action::kSetQuota) return answered(named, client.setQuota(quotaOf(command.quota)));
  return answered(named, client.removeQuota(refOf(command.quota)));
}

}  // namespace pop::popctl
