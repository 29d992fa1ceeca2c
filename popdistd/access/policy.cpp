// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/policy.h"

#include <algorithm>
#include <array>

#include "common/base/text.h"

namespace pop::popdistd {
namespace {

constexpr v1::Role kViewer = v1::ROLE_VIEWER;
constexpr v1::Role kSubmit = v1::ROLE_SUBMIT;
constexpr v1::Role kOperator = v1::ROLE_OPERATOR;
constexpr v1::Role kAdmin = v1::ROLE_ADMIN;
constexpr bool kAudited = true;
constexpr bool kReads = false;
constexpr bool kByKeys = true;

// Of partitions, the allocation decides besides (popdistd/pods/pod_access.h), and who holds one that is
// removed with force.
constexpr std::array kPolicy{
    // controller.proto
    Rule{"Submit", kSubmit, kSubmit, kAudited},
    Rule{"Get", kViewer, kViewer, kReads},
    Rule{"List", kViewer, kViewer, kReads},
    Rule{"Watch", kViewer, kViewer, kReads},
    Rule{"Logs", kViewer, kOperator, kReads},
    Rule{"Signal", kSubmit, kOperator, kAudited},
    Rule{"Cancel", kSubmit, kOperator, kAudited},
    Rule{"Hold", kSubmit, kOperator, kAudited},
    Rule{"Release", kSubmit, kOperator, kAudited},
    Rule{"Forget", kSubmit, kOperator, kAudited},
    Rule{"CountJobs", kViewer, kViewer, kReads},
    Rule{"SetQuota", kAdmin, kAdmin, kAudited},
    Rule{"RemoveQuota", kAdmin, kAdmin, kAudited},
    Rule{"ListQuotas", kViewer, kViewer, kReads},
    Rule{"ListHosts", kViewer, kViewer, kReads},
    Rule{"GetHost", kViewer, kViewer, kReads},
    Rule{"Drain", kOperator, kOperator, kAudited},
    Rule{"Resume", kOperator, kOperator, kAudited},
    Rule{"RemoveHost", kAdmin, kAdmin, kAudited},
    Rule{"About", kViewer, kViewer, kReads},
    Rule{"Backup", kAdmin, kAdmin, kAudited},
    Rule{"CheckStore", kAdmin, kAdmin, kReads},
    // pods.proto
    Rule{"CreateCluster", kAdmin, kAdmin, kAudited, kByKeys},
    Rule{"RemoveCluster", kAdmin, kAdmin, kAudited, kByKeys},
    Rule{"ListClusters", kViewer, kViewer, kReads, kByKeys},
    Rule{"CreateAgent", kAdmin, kAdmin, kAudited, kByKeys},
    Rule{"RemoveAgent", kAdmin, kAdmin, kAudited, kByKeys},
    Rule{"ListAgents", kViewer, kViewer, kReads, kByKeys},
    Rule{"DrainAgent", kOperator, kOperator, kAudited, kByKeys},
    Rule{"ResumeAgent", kOperator, kOperator, kAudited, kByKeys},
    Rule{"CreateAllocation", kAdmin, kAdmin, kAudited, kByKeys},
    Rule{"RemoveAllocation", kAdmin, kAdmin, kAudited, kByKeys},
    Rule{"ListAllocations", kViewer, kViewer, kReads, kByKeys},
    Rule{"ListPartitions", kViewer, kViewer, kReads, kByKeys},
    Rule{"ReleasePartition", kAdmin, kAdmin, kAudited, kByKeys},
    Rule{"HoldPartition", kSubmit, kSubmit, kAudited, kByKeys},
    // virmgrpc
    Rule{"ListIPUAttributes", kViewer, kViewer, kReads, kByKeys},
    Rule{"CreatePartition", kSubmit, kSubmit, kAudited, kByKeys},
    Rule{"RemovePartition", kSubmit, kOperator, kAudited, kByKeys},
    Rule{"ResetPartition", kSubmit, kSubmit, kAudited, kByKeys},
    Rule{"GetPartitionIpuofConfig", kViewer, kViewer, kReads, kByKeys},
    Rule{"GetPartitionStatus", kViewer, kViewer, kReads, kByKeys},
    Rule{"GetVersion", kViewer, kViewer, kReads, kByKeys},
    // access.proto
    Rule{"CreateUser", kAdmin, kAdmin, kAudited},
    Rule{"ListUsers", kAdmin, kAdmin, kReads},
    Rule{"RemoveUser", kAdmin, kAdmin, kAudited},
    Rule{"CreateToken", kViewer, kViewer, kAudited},
    Rule{"ListTokens", kViewer, kViewer, kReads},
    Rule{"RemoveToken", kViewer, kViewer, kAudited},
    Rule{"ListAudit", kAdmin, kAdmin, kReads},
    Rule{"CheckAudit", kAdmin, kAdmin, kReads},
};

constexpr Rule kUnknown{"", kAdmin, kAdmin, kAudited};

std::string whoIs(const Caller& caller) {
  return "user " + inQuotes(caller.user) + " has the role " + std::string(roleName(caller.role));
}

}  // namespace

std::span<const Rule> policy() {
  return kPolicy;
}

const Rule& ruleOf(std::string_view method) {
  const auto* const found = std::find_if(kPolicy.begin(), kPolicy.end(),
                                         [method](const Rule& rule) { return rule.method == method; });
  return found == kPolicy.end() ? kUnknown : *found;
}

std::string_view roleName(v1::Role role) {
  switch (role) {
    case kViewer:
      return "viewer";
    case kSubmit:
      return "submit";
    case kOperator:
      return "operator";
    case kAdmin:
      return "admin";
    default:
      return "none";
  }
}

Status checkMay(const Caller& caller, const Rule& rule) {
  if (caller.known_by == v1::KNOWN_BY_VIPU_KEY && !rule.is_for_keys)
    return {Code::kPermissionDenied,
            "a key of V-IPU's clients is for clusters, allocations and partitions only: use a certificate, a "
            "token, or popdistd's machine"};
  if (caller.role >= rule.least) return {};
  return {Code::kPermissionDenied, whoIs(caller) + (caller.token.empty() ? "" : " by this token") + ", and " +
                                       std::string(rule.method.empty() ? "this call" : rule.method) +
                                       " takes the role " + std::string(roleName(rule.least)) +
                                       " (popctl create user NAME --role)"};
}

Status checkMayWithJob(const Caller& caller, const Rule& rule, std::int64_t job, const std::string& owner) {
  if (owner == caller.user || caller.role >= rule.others) return {};
  return {Code::kPermissionDenied,
          "job " + std::to_string(job) + " belongs to user " + inQuotes(owner) + ", and " + whoIs(caller)};
}

}  // namespace pop::popdistd
